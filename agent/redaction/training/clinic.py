"""Words of clinics that identify nobody: what a network must learn to leave alone."""

from agent.redaction.training.lists import values

CONDITIONS = values(
    "hypertension|type 2 diabetes|type 1 diabetes mellitus|COPD|asthma|heart failure|HFrEF|atrial fibrillation|AFib|"
    "stable angina|NSTEMI|STEMI|chronic kidney disease|CKD stage 3|end-stage renal disease|hypothyroidism|"
    "hyperthyroidism|Graves' disease|Hashimoto's thyroiditis|Hashimoto thyroiditis|Parkinson's disease|"
    "Alzheimer's disease|Lewy body dementia|Huntington's disease|multiple sclerosis|ALS|Guillain-Barré syndrome|"
    "Guillain-Barre syndrome|Bell's palsy|migraine with aura|epilepsy|Crohn's disease|ulcerative colitis|"
    "Barrett's esophagus|celiac disease|GERD|cirrhosis|Child-Pugh B cirrhosis|hepatitis C|Wilson's disease|NAFLD|"
    "pancreatitis|diverticulitis|appendicitis|cholecystitis|Hodgkin lymphoma|Hodgkin's lymphoma|non-Hodgkin lymphoma|"
    "Burkitt lymphoma|acute myeloid leukemia|CLL|multiple myeloma|stage III colon cancer|Stage IV lung cancer|"
    "breast cancer|HER2-positive breast cancer|prostate cancer, Gleason 7|melanoma|Merkel cell carcinoma|"
    "Kaposi sarcoma|Ewing sarcoma|Wilms tumor|glioblastoma|Paget's disease|Sjögren's syndrome|Sjogren's syndrome|"
    "systemic lupus erythematosus|rheumatoid arthritis|psoriatic arthritis|ankylosing spondylitis|Behçet's disease|"
    "Raynaud's phenomenon|Takayasu arteritis|Kawasaki disease|Marfan syndrome|Ehlers-Danlos syndrome|Down syndrome|"
    "Turner syndrome|Klinefelter syndrome|Prader-Willi syndrome|Cushing's syndrome|Addison's disease|Conn syndrome|"
    "Meniere's disease|Ménière's disease|Lyme disease|Rocky Mountain spotted fever|West Nile virus|Zika|Ebola|"
    "malaria|tuberculosis|HIV|COVID-19|influenza A|RSV bronchiolitis|sepsis|community-acquired pneumonia|"
    "MRSA bacteremia|cellulitis|osteomyelitis|C. difficile colitis|H. pylori gastritis|E. coli UTI|recurrent UTI|"
    "pyelonephritis|preeclampsia|HELLP syndrome|gestational diabetes|PCOS|endometriosis|major depressive disorder|"
    "bipolar I disorder|PTSD|ADHD|OCD|schizophrenia|opioid use disorder|alcohol withdrawal|Wernicke encephalopathy|"
    "Korsakoff syndrome|Tourette syndrome|Asperger's|autism spectrum disorder|Charcot-Marie-Tooth disease|"
    "Duchenne muscular dystrophy|myasthenia gravis|Lambert-Eaton syndrome|Factor V Leiden|von Willebrand disease|"
    "sickle cell disease|iron deficiency anemia|Fanconi anemia|pulmonary embolism|DVT|Budd-Chiari syndrome|"
    "Dupuytren's contracture|Colles' fracture|Colles fracture|Legg-Calvé-Perthes disease|Osgood-Schlatter disease|"
    "Baker's cyst|plantar fasciitis|gout|osteoporosis|Creutzfeldt-Jakob disease|Tay-Sachs disease|Gaucher disease|"
    "Fabry disease|Pompe disease|Stevens-Johnson syndrome|Brugada syndrome|Wolff-Parkinson-White syndrome|"
    "Tetralogy of Fallot|Eisenmenger syndrome|Takotsubo cardiomyopathy|Dressler syndrome|Mallory-Weiss tear|"
    "Zenker's diverticulum|Meckel's diverticulum|Hirschsprung disease|Zollinger-Ellison syndrome|"
    "Peutz-Jeghers syndrome|Li-Fraumeni syndrome|Lynch syndrome|Goodpasture syndrome|Alport syndrome|"
    "Berger's disease|Henoch-Schönlein purpura|Waldenström macroglobulinemia|Langerhans cell histiocytosis|"
    "Horner syndrome|Sturge-Weber syndrome|von Hippel-Lindau disease|Friedreich ataxia|Rett syndrome"
)

DRUGS = values(
    "metformin|lisinopril|amlodipine|atorvastatin|Lipitor|Metoprolol|metoprolol succinate|carvedilol|losartan|"
    "Entresto|sacubitril/valsartan|furosemide|Lasix|spironolactone|warfarin|Coumadin|apixaban|Eliquis|rivaroxaban|"
    "Xarelto|clopidogrel|Plavix|aspirin|heparin|enoxaparin|Lovenox|insulin glargine|Lantus|Humalog|semaglutide|"
    "Ozempic|Wegovy|Jardiance|empagliflozin|dapagliflozin|Farxiga|Januvia|sitagliptin|glipizide|levothyroxine|"
    "Synthroid|methimazole|prednisone|methylprednisolone|Solu-Medrol|dexamethasone|albuterol|Ventolin|Advair|"
    "Symbicort|tiotropium|Spiriva|montelukast|Singulair|omeprazole|Prilosec|pantoprazole|Protonix|famotidine|"
    "ondansetron|Zofran|sertraline|Zoloft|fluoxetine|Prozac|escitalopram|Lexapro|bupropion|Wellbutrin|venlafaxine|"
    "Effexor|duloxetine|Cymbalta|trazodone|quetiapine|Seroquel|olanzapine|Zyprexa|aripiprazole|Abilify|lithium|"
    "lamotrigine|Lamictal|valproate|Depakote|levetiracetam|Keppra|carbamazepine|Tegretol|gabapentin|Neurontin|"
    "pregabalin|Lyrica|sumatriptan|Imitrex|topiramate|Topamax|tramadol|oxycodone|OxyContin|hydrocodone|Norco|"
    "morphine|fentanyl|naloxone|Narcan|buprenorphine|Suboxone|acetaminophen|Tylenol|ibuprofen|Advil|Motrin|naproxen|"
    "Aleve|celecoxib|Celebrex|amoxicillin|Augmentin|azithromycin|Z-Pak|ceftriaxone|Rocephin|vancomycin|"
    "piperacillin-tazobactam|Zosyn|ciprofloxacin|Cipro|levofloxacin|doxycycline|Bactrim|nitrofurantoin|Macrobid|"
    "fluconazole|Diflucan|acyclovir|Valtrex|Paxlovid|remdesivir|oseltamivir|Tamiflu|methotrexate|adalimumab|Humira|"
    "etanercept|Enbrel|infliximab|Remicade|rituximab|Rituxan|trastuzumab|Herceptin|pembrolizumab|Keytruda|nivolumab|"
    "Opdivo|bevacizumab|Avastin|carboplatin|paclitaxel|Taxol|tamoxifen|letrozole|FOLFOX|R-CHOP|donepezil|Aricept|"
    "memantine|Namenda|carbidopa-levodopa|Sinemet|Botox|tizanidine|cyclobenzaprine|Flexeril|alendronate|Fosamax|"
    "Prolia|denosumab|allopurinol|colchicine|finasteride|tamsulosin|Flomax|sildenafil|Viagra|Depo-Provera|Mirena|"
    "Nexplanon|Paragard|EpiPen|epinephrine|diphenhydramine|Benadryl|loratadine|Claritin|Zyrtec|Flonase|Shingrix|"
    "Gardasil|MMR vaccine|Tdap|Pfizer-BioNTech vaccine|Moderna booster|Adderall|Ritalin|Concerta|Vyvanse|Xanax|"
    "alprazolam|Ativan|lorazepam|Klonopin|Valium|Ambien|zolpidem|melatonin|Haldol|Versed|Ketamine|propofol|Precedex|"
    "Levophed|Trulicity|Mounjaro|Crestor|Zetia|Repatha|Praluent|Norvasc|Zestril|Diovan|Cozaar|Bumex|Lopressor|Coreg|"
    "Digoxin|Amiodarone|Tikosyn|Brilinta|Effient|Pradaxa|Stelara|Cosentyx|Dupixent|Xolair|Otezla|Rinvoq|Skyrizi"
)

THINGS = values(
    "Foley catheter|Foley|Hickman line|Swan-Ganz catheter|Swan-Ganz|PICC line|Jackson-Pratt drain|JP drain|"
    "Penrose drain|Holter monitor|Doppler ultrasound|Bair Hugger|Yankauer suction|Kelly clamp|Mayo stand|Hoyer lift|"
    "Miller blade|Macintosh blade|Bovie cautery|Robinson catheter|Glasgow Coma Scale|GCS|APGAR score|Apgar scores|"
    "Wells score|CHA2DS2-VASc score|HAS-BLED|Child-Pugh score|MELD score|Gleason score|Karnofsky status|ECOG 1|"
    "Framingham risk|Ranson criteria|Centor criteria|Light's criteria|Duke criteria|Jones criteria|Beers criteria|"
    "Ottawa ankle rules|Canadian C-spine rule|Braden scale|Morse Fall Scale|Norton scale|Bishop score|"
    "Mini-Mental State Examination|MoCA|Montreal Cognitive Assessment|Beck Depression Inventory|PHQ-9|GAD-7|"
    "Hamilton scale|Rankin scale|modified Rankin score|Hunt and Hess grade|Fitzpatrick skin type II|Breslow depth|"
    "Clark level|Salter-Harris fracture|Gustilo type II|Garden classification|Kellgren-Lawrence grade|"
    "Bethesda category|Breslow thickness|Forrest classification|Los Angeles grade B esophagitis|Mallampati class II|"
    "Killip class|NYHA class III|Romberg sign|Babinski sign|Babinski|Kernig's sign|Brudzinski's sign|Murphy's sign|"
    "McBurney's point|Homans' sign|Phalen's test|Tinel's sign|Lachman test|McMurray test|Trendelenburg position|"
    "Trendelenburg gait|Lasègue sign|Rinne and Weber tests|Dix-Hallpike maneuver|Epley maneuver|Valsalva maneuver|"
    "Heimlich maneuver|Allen's test|Finkelstein test|Spurling test|Hawkins-Kennedy test|Battle's sign|Cullen's sign|"
    "Kussmaul breathing|Cheyne-Stokes respiration|Osler nodes|Janeway lesions|Roth spots|Heberden's nodes|"
    "Bouchard's nodes|Auer rods|Bence Jones protein|Howell-Jolly bodies|Reed-Sternberg cells|Schwann cells|"
    "Purkinje fibers|Bowman's capsule|Achilles tendon|Eustachian tube|Fallopian tube|circle of Willis|bundle of His|"
    "loop of Henle|Broca's area|Gram stain|Gram-negative rods|Giemsa stain|Wright stain|Pap smear|Coombs test|"
    "Mantoux test|Schirmer's test|Western blot|Papanicolaou smear|Ziehl-Neelsen stain|Mohs surgery|Whipple procedure|"
    "Nissen fundoplication|Roux-en-Y gastric bypass|Hartmann's procedure|Billroth II|Kocher incision|"
    "Pfannenstiel incision|Bankart repair|Latarjet procedure|Lichtenstein repair|Ross procedure|Fontan circulation|"
    "Norwood procedure|Blalock-Taussig shunt|Heller myotomy|Ivor Lewis esophagectomy|Lisfranc injury|Jones fracture|"
    "Monteggia fracture|Bennett fracture|Boxer's fracture|Kegel exercises|Williams flexion exercises|"
    "Mediterranean diet|DASH diet|Ringer's lactate|Lactated Ringer's|Hartmann's solution|Betadine|Steri-Strips|"
    "Tegaderm|Dermabond|Epic|Cerner|MyChart|Zoom|Excel|iPhone|Fitbit|Apple Watch|Dexcom|Medtronic pump|"
    "Epstein-Barr virus|EBV|CMV|Staph aureus|Staphylococcus aureus|Escherichia coli|Klebsiella pneumoniae|"
    "Pseudomonas aeruginosa|Candida albicans|Clostridioides difficile|Streptococcus pyogenes|Borrelia|"
    "Helicobacter pylori|Plasmodium falciparum|Legionella|Salmonella|Norovirus|Hispanic|Caucasian|African American|"
    "Asian|White|Black|Latina|English-speaking|Spanish interpreter|French|German|Jewish|Muslim|Catholic|Christmas|"
    "Thanksgiving|Medicare|Medicaid"
)

AGENCIES = values(
    "FDA|CDC|WHO|NIH|NICE|AHA|ACC|ACC/AHA|ADA|ESC|EULAR|ACR|NCCN|ASCO|ESMO|KDIGO|GOLD|GINA|IDSA|USPSTF|ACOG|AAP|APA|"
    "AAN|ATS|CHEST|AASLD|EASL|ACG|AGA|BTS|SIGN|CMS|EMA|MHRA|Cochrane|UpToDate|PubMed|American Heart Association|"
    "American Diabetes Association|American College of Cardiology|American College of Physicians|"
    "American Academy of Pediatrics|American Cancer Society|European Society of Cardiology|World Health Organization|"
    "Centers for Disease Control and Prevention|National Institutes of Health|Food and Drug Administration|"
    "Infectious Diseases Society of America|Surviving Sepsis Campaign|National Comprehensive Cancer Network|"
    "American Thoracic Society|American Psychiatric Association|DSM-5|DSM-5-TR|JNC 8|Global Initiative for Asthma|"
    "Medicare|Medicaid|HIPAA|Joint Commission|New England Journal of Medicine|NEJM|JAMA|The Lancet|BMJ|Nature"
)

SYMPTOMS = values(
    "chest pain|shortness of breath|dyspnea on exertion|abdominal pain|nausea and vomiting|fever|chills|night sweats|"
    "weight loss|fatigue|dizziness|syncope|palpitations|headache|blurry vision|back pain|joint swelling|rash|"
    "pruritus|cough|hemoptysis|sore throat|diarrhea|constipation|melena|hematuria|dysuria|urinary frequency|"
    "leg swelling|numbness|tingling|weakness|tremor|memory loss|insomnia|anxiety|low mood|hearing loss|tinnitus|"
    "knee pain|hip pain|wheezing|confusion|agitation|poor appetite|jaundice|easy bruising|a fall at home|"
    "right-sided weakness|left arm pain"
)

PROCEDURES = values(
    "colonoscopy|EGD|CT scan|CT of the chest|MRI brain|MRI of the lumbar spine|chest X-ray|echocardiogram|EKG|"
    "stress test|cardiac catheterization|CABG|PCI|knee replacement|hip replacement|appendectomy|cholecystectomy|"
    "hysterectomy|C-section|mastectomy|lumpectomy|biopsy|bronchoscopy|dialysis|intubation|central line placement|"
    "lumbar puncture|blood transfusion|chemotherapy|radiation therapy|physical therapy|a sleep study|"
    "cataract surgery|pacemaker implantation|ablation|thyroidectomy|hernia repair|spinal fusion|ultrasound|mammogram|"
    "PET/CT|EEG|EMG|angiography"
)

SPECIALTIES = values(
    "cardiology|neurology|oncology|orthopedics|nephrology|endocrinology|gastroenterology|pulmonology|rheumatology|"
    "dermatology|psychiatry|surgery|urology|ophthalmology|ENT|radiology|pathology|pediatrics|OB/GYN|primary care|"
    "the ICU|the emergency department|the ED|palliative care|physical therapy|social work|infectious disease|"
    "hematology|vascular surgery|anesthesia|the wound clinic|internal medicine|family medicine|the pharmacy"
)

ROLES = values(
    "attending|PCP|primary care physician|nurse|case manager|social worker|surgeon|cardiologist|oncologist|"
    "neurologist|radiologist|pathologist|resident|intern|fellow|hospitalist|anesthesiologist|therapist|dietitian|"
    "pharmacist|midwife|psychiatrist|paramedic|dentist|physical therapist|GP|consultant|registrar"
)

FAMILY = values(
    "wife|husband|mother|father|son|daughter|brother|sister|aunt|uncle|grandmother|grandson|granddaughter|partner|"
    "neighbor|friend|caregiver|guardian|mother-in-law|cousin|niece|nephew|fiancé|roommate|sponsor|landlord|employer"
)

JOBS = values(
    "teacher|retired teacher|plumber|truck driver|nurse|accountant|farmer|software engineer|carpenter|chef|"
    "police officer|firefighter|student|lawyer|electrician|mechanic|cashier|waitress|retired engineer|"
    "construction worker|musician|pastor|clerk|librarian|receptionist|baker|barber|pilot"
)

LABS = values(
    "Na 138|K 4.1|Cr 1.2|BUN 22|WBC 11.2|Hgb 9.8|Hct 30|Plt 210|INR 2.3|Troponin 0.04|BNP 450|HbA1c 8.2%|A1C of 7.4|"
    "TSH 2.1|LDL 130 mg/dL|AST 45|ALT 52|Lactate 2.4|pH 7.32|pCO2 48|CRP 12|ESR 40|PSA 6.5 ng/mL|eGFR 48|glucose 245|"
    "Vitamin D 18|ferritin 12|BP 142/88|HR 92|RR 18|SpO2 94% on RA|Temp 38.4 C|T 98.6|weight 82 kg|BMI 31.2|EF 35%|"
    "FEV1 62%|CD4 350|AFP 12|CA-125 45|D-dimer 1.2|Mg 1.8|Phos 3.2|Ca 9.1|pain 6/10"
)

HEADERS = values(
    "CHIEF COMPLAINT|HPI|HISTORY OF PRESENT ILLNESS|PAST MEDICAL HISTORY|PMH|MEDICATIONS|Medications|ALLERGIES|"
    "Allergies|SOCIAL HISTORY|Social History|FAMILY HISTORY|REVIEW OF SYSTEMS|PHYSICAL EXAM|Physical Examination|"
    "VITAL SIGNS|Vitals|LABS|Laboratory Data|IMAGING|ASSESSMENT AND PLAN|Assessment/Plan|IMPRESSION|FINDINGS|"
    "TECHNIQUE|COMPARISON|INDICATION|HOSPITAL COURSE|Hospital Course|DISCHARGE DIAGNOSIS|DISPOSITION|"
    "Discharge Instructions|FOLLOW-UP|Follow Up|Procedure|Anesthesia|Estimated Blood Loss|Specimens|Complications|"
    "Subjective|Objective|Plan|Reason for Consult|Recommendations|Code Status|Diet|Activity|Condition|Goals of Care|"
    "Brief Summary|Clinical Notes|Problem List"
)
