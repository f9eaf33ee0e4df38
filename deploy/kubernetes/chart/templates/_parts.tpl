{{- define "intramural.labels" -}}
app.kubernetes.io/name: intramural
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "intramural.account" -}}
serviceAccountName: intramural
automountServiceAccountToken: false
enableServiceLinks: false
{{- end }}

{{- /* fsGroupChangePolicy: Always would open the keys' files to the group, and they are refused then. */ -}}
{{- define "intramural.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "intramural.closed" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "intramural.small" -}}
requests: {cpu: 100m, memory: 256Mi}
limits: {memory: 1Gi}
{{- end }}

{{- /* Arguments: path of the life check, path of the readiness check, port, scheme, failures while it starts. */ -}}
{{- define "intramural.probes" -}}
{{- $scheme := "" }}{{ if eq .port "https" }}{{ $scheme = ", scheme: HTTPS" }}{{ end -}}
startupProbe:
  httpGet: {path: {{ .alive }}, port: {{ .port }}{{ $scheme }}}
  periodSeconds: {{ .every }}
  failureThreshold: {{ .starts }}
livenessProbe:
  httpGet: {path: {{ .alive }}, port: {{ .port }}{{ $scheme }}}
  periodSeconds: 30
  timeoutSeconds: 15
  failureThreshold: 4
readinessProbe:
  httpGet: {path: {{ .ready }}, port: {{ .port }}{{ $scheme }}}
  periodSeconds: 15
  timeoutSeconds: 15
{{- end }}

{{- define "intramural.hostAliases" -}}
{{- range . }}
- {ip: {{ .ip | quote }}, hostnames: [{{ .name | quote }}]}
{{- end }}
{{- end }}

{{- define "intramural.peers" -}}
{{- range . }}
- to:
    - ipBlock: {cidr: {{ printf "%s/%s" .ip (ternary "128" "32" (contains ":" .ip)) | quote }}}
  ports:
    - {protocol: TCP, port: {{ .port }}}
{{- end }}
{{- end }}

{{- /* Arguments: name, component, size, class. */ -}}
{{- define "intramural.claim" -}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ .name }}
  labels: {{- include "intramural.labels" .component | nindent 4 }}
  annotations: {helm.sh/resource-policy: keep}
spec:
  accessModes: [ReadWriteOnce]
  {{- with .class }}
  storageClassName: {{ . | quote }}
  {{- end }}
  resources: {requests: {storage: {{ .size }}}}
{{- end }}

{{- /* Arguments: name, component, port of the Service, port of the container. */ -}}
{{- define "intramural.service" -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ .name }}
  labels: {{- include "intramural.labels" .component | nindent 4 }}
spec:
  selector: {{- include "intramural.labels" .component | nindent 4 }}
  ports:
    - {name: {{ .target }}, port: {{ .port }}, targetPort: {{ .target }}}
{{- end }}

{{- /* A drain of the node waits until somebody scales the StatefulSet to 0. Arguments: name, component. */ -}}
{{- define "intramural.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels: {{- include "intramural.labels" .component | nindent 4 }}
spec:
  minAvailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels: {{- include "intramural.labels" .component | nindent 6 }}
{{- end }}

{{- /* Arguments: component, port, namespace of whoever may come in. */ -}}
{{- define "intramural.ingress" -}}
podSelector:
  matchLabels: {{- include "intramural.labels" .component | nindent 4 }}
policyTypes: [Ingress, Egress]
ingress:
  - from:
      - namespaceSelector:
          matchLabels: {kubernetes.io/metadata.name: {{ .namespace | quote }}}
    ports:
      - {protocol: TCP, port: {{ .port }}}
{{- end }}
