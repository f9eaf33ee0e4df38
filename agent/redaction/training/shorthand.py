# ruff: noqa: E501 - lists, and one template a line
"""Clinical shorthand for the English generator: what is written in haste by nurses, in triage, in questions and dictation.

Each shape with people, places and numbers in it has a harmless counterpart: a number at the beginning of a line is an
hour, a word with a capital a device. Written as `english_templates`.
"""

from agent.redaction.training.lists import values


def _lines(text: str) -> tuple[str, ...]:
    return tuple(line.replace("\\n", "\n") for line in text.strip().splitlines() if line)


# People whose name stands for what they described, without a word such as "sign" behind it.
EPONYMS = values(
    "Kerley|Hounsfield|Doppler|Westergren|Seldinger|Wallenberg|Brown-Séquard|Ramsay Hunt|Stevens-Johnson|Chiari|Dandy-Walker|Arnold-Chiari|Monro-Kellie|"
    "Tzanck|Wood|Hutchinson|Virchow|Charcot|Beck|Cushing|Reynolds|Whipple|Galeazzi|Monteggia|Maisonneuve|Segond|Bankart|Hill-Sachs|Lisfranc|Jefferson|"
    "Chance|Salter-Harris|Gustilo-Anderson|Garden|Weber|Lauge-Hansen|Schatzker|Neer|Hawkins|Kellgren|Gleason|Breslow|Clark|Fuhrman|Bosniak|Balthazar|"
    "Ranson|Hinchey|Forrest|Child-Pugh|Maddrey|Lille|Rockall|Blatchford|Wells|Geneva|Alvarado|Centor|McIsaac|Bishop|Ballard|Tanner|Denver|Braden|Morse|"
    "Waterlow|Norton|Aldrete|Mallampati|Cormack-Lehane|Ramsay|Richmond|Hunt-Hess|Fisher|Rankin|Barthel|Katz|Lawton|Karnofsky|Zubrod|Ann Arbor|Lugano|"
    "Binet|Rai|Deauville|Durie-Salmon|Clavien-Dindo|Charlson|Elixhauser|Framingham|Reynolds|Killip|Vaughan Williams|Sgarbossa|Wellens|Brugada|de Winter|"
    "Duke|Jones|Carpentier|Stanford|DeBakey|Crawford|Fontaine|Rutherford|Wagner|Fitzpatrick|Ludwig|Glasgow|Epworth|Mini-Cog|Beck|Hamilton|Edinburgh|"
    "Montgomery-Åsberg|Yale-Brown|Conners|Vanderbilt|Bayley|Wechsler|Stroop|Rey|Ishihara|Snellen|Amsler|Goldmann|Schirmer|Schiotz|Rosenbaum|Weber|Rinne|"
    "Dix-Hallpike|Epley|Semont|Brandt-Daroff|Lachman|McMurray|Apley|Thompson|Ottawa|Nexus|Ortolani|Barlow|Galant|Moro|Babkin|Romberg|Phalen|Tinel|Hoffmann|"
    "Lhermitte|Kernig|Brudzinski|Babinski|Chvostek|Trousseau|Murphy|Rovsing|Courvoisier|Blumberg|Carnett|Cullen|Grey Turner|Kehr|Homans|Allen|Buerger|"
    "Corrigan|Quincke|Duroziez|Still|Graham Steell|Austin Flint|Levine|Kussmaul|Cheyne-Stokes|Biot|Roth|Osler|Janeway|Harrison|Heberden|Bouchard|Gottron|"
    "Koebner|Nikolsky|Auspitz|Darier|Beau|Mees|Terry|Lindsay|Muehrcke|Kayser-Fleischer|Brushfield|Koplik|Forchheimer|Pastia|Bohn|Epstein|Argyll Robertson|"
    "Marcus Gunn|Adie|Horner|Todd|Bell|Erb|Klumpke|Parsonage-Turner|Guyon|Morton|Baxter|Haglund|Sever|Osgood|Freiberg|Kienböck|Scheuermann|Schmorl|Modic|"
    "Tarlov|Bartholin|Skene|Nabothian|Naegele|Leopold|McRoberts|Zavanelli|Bakri|Apgar|Bracht|Kristeller|Wharton|Meckel|Zenker|Killian|Schatzki|Mallory-Weiss|"
    "Boerhaave|Dieulafoy|Cameron|Curling|Ménétrier|Peutz-Jeghers|Gardner|Turcot|Cowden|Lynch|Bowman|Henle|Fanconi|Bartter|Gitelman|Liddle|Gordon|Alport|"
    "Goodpasture|Wegener|Kimmelstiel-Wilson|Bence Jones|Tamm-Horsfall|Howell-Jolly|Heinz|Auer|Pappenheimer|Döhle|Pelger-Huët|Reed-Sternberg|Coombs|"
    "Sézary|Kasabach-Merritt|Evans|Diamond-Blackfan|Bernard-Soulier|Glanzmann|Leiden|Hageman|Waldeyer|Peyer|Gram|Giemsa|Wright|Ziehl-Neelsen|Gomori|"
    "Kaplan-Meier|Cox|Student|Fisher|Bland-Altman|Bonferroni|Pearson|Spearman|Youden|Bayes|Delphi|Likert|Hawthorne|Will Rogers|Simpson|Berkson|Nernst|"
    "Starling|Frank-Starling|Fick|Bohr|Haldane|Henderson-Hasselbalch|Winters|Parkland|Cockcroft-Gault|Schwartz|Friedewald|Bazett|Mosteller|Du Bois|"
    "Harris-Benedict|Mifflin|Naranjo|Beers|Holliday-Segar|Broselow|Hawkins|Kocher|Pfannenstiel|McBurney|Lanz|Chevron|Joel-Cohen|Battle|Lichtenstein|"
    "Shouldice|Bassini|Stoppa|Nissen|Toupet|Dor|Heller|Billroth|Roux|Hartmann|Miles|Delorme|Altemeier|Ferguson|Milligan-Morgan|Graham|Puestow|Frey|"
    "Kasai|Ladd|Ramstedt|Soave|Duhamel|Swenson|Fontan|Glenn|Norwood|Rastelli|Mustard|Senning|Jatene|Ross|Bentall|David|Cabrol|Maze|Dor|Batista|"
    "Cox-Maze|Bristow|Latarjet|Putti-Platt|Weil|Austin|Lapidus|Keller|Akin|Evans|Cotton|Strayer|Ilizarov|Ponseti|Pavlik|Salter|Pemberton|Chiari|"
    "Girdlestone|Watson-Jones|Hardinge|Moore|Smith-Petersen|Judet|Kocher-Langenbeck|Burch|Kelly|Manchester|Le Fort|McCall|Shirodkar|McDonald|Strassman|"
    "Wertheim|Mitrofanoff|Indiana|Studer|Boari|Anderson-Hynes|Cohen|Lich-Gregoir|Snodgrass|Bianchi|Nesbit|Heineke-Mikulicz|Caldwell-Luc|Draf|Killian|"
    "Mohs|Limberg|Abbe|Estlander|Karapandzic|Mustardé|Tenzel|Hughes|Bick|Ahmed|Baerveldt|Molteno|Descemet|Bowman|Tenon|Schlemm|Fuchs|Salzmann|Stargardt|"
    "Best|Coats|Eales|Leber|Purtscher|Behçet|Vogt|Sjögren|Mikulicz|Castleman|Kikuchi|Rosai-Dorfman|Erdheim-Chester|Langerhans|Gaucher|Fabry|Pompe|"
    "McArdle|Hurler|Hunter|Sanfilippo|Morquio|Tay-Sachs|Niemann-Pick|Krabbe|Canavan|Alexander|Leigh|Kearns-Sayre|Refsum|Zellweger|Menkes|Wilson"
)

# Words behind them, and behind letters and brands.
EPONYM_ENDS = values(
    "sign|signs|line|lines|B lines|rule|rules|drain|drains|type|type A|type B|class|class II|grade|grade 3|stage|stage III|phenomenon|effect|score|scale|index|criteria|"
    "classification|units|method|technique|approach|position|point|triangle|triad|law|equation|formula|chart|nomogram|test|testing|maneuver|reflex|gait|"
    "facies|spots|nodes|bodies|cells|rings|web|cyst|pouch|patch|plaques|fracture|dislocation|deformity|lesion|sulcus|tear|repair|procedure|operation|"
    "incision|flap|shunt|loop|tube|catheter|line|needle|clamp|retractor|forceps|scissors|speculum|balloon|bag|mask|valve|stent|cage|plate|nail|"
    "screw|splint|brace|sling|boot|harness|collar|bed|chair|table|lamp|lens|stain|smear|medium|agar|paralysis|palsy|neuralgia|chorea|ataxia|encephalopathy|"
    "disease|syndrome|anomaly|malformation|tumor|sarcoma|lymphoma|nephropathy|hernia|ulcer|gangrene|angina|arteritis|purpura|murmur|pulse|breathing|"
    "respiration|wave|waves|pattern|curve|plot|analysis|correction|trial|study|protocol|regimen|diet|fluid|solution|burn formula|fall risk|fall risk tool|"
    "sedation scale|depression scale|dementia rating|questionnaire|inventory|checklist|staging|system|space|ligament|fascia|canal|duct|gland|membrane"
)

# Drugs, vaccines, devices, dressings, instruments, tests and software as they are sold.
BRANDS = values(
    "Chantix|Truvada|Descovy|Biktarvy|Genvoya|Stribild|Triumeq|Tivicay|Dovato|Juluca|Cabenuva|Apretude|Isentress|Prezista|Epzicom|Epclusa|Harvoni|Mavyret|Sovaldi|Vemlidy|"
    "Baraclude|Pneumovax|Prevnar|Vaxneuvance|Menactra|Bexsero|Trumenba|Pediarix|Pentacel|Vaxelis|RotaTeq|Rotarix|Havrix|Twinrix|Engerix|Heplisav|Boostrix|Adacel|"
    "Fluzone|Flublok|FluMist|Arexvy|Abrysvo|Beyfortus|Synagis|Comirnaty|Spikevax|Novavax|Leqembi|Aduhelm|Kisunla|Ocrevus|Tysabri|Gilenya|Tecfidera|Copaxone|Avonex|Rebif|Kesimpta|"
    "Briumvi|Mavenclad|Aubagio|Ampyra|Spinraza|Zolgensma|Evrysdi|Exondys|Radicava|Rilutek|Soliris|Ultomiris|Vyvgart|Enspryng|Uplizna|Aimovig|Ajovy|Emgality|Vyepti|Nurtec|"
    "Ubrelvy|Qulipta|Reyvow|Cambia|Briviact|Vimpat|Xcopri|Fycompa|Onfi|Banzel|Epidiolex|Aptiom|Trileptal|Dilantin|Cerebyx|Zonegran|Sabril|Diastat|Nayzilam|Valtoco|"
    "Latuda|Vraylar|Rexulti|Caplyta|Geodon|Invega|Invega Sustenna|Risperdal|Saphris|Clozaril|Cobenfy|Austedo|Ingrezza|Spravato|Auvelity|Trintellix|Viibryd|Pristiq|Remeron|Paxil|Celexa|"
    "Luvox|BuSpar|Strattera|Intuniv|Qelbree|Focalin|Provigil|Nuvigil|Xyrem|Sunosi|Belsomra|Dayvigo|Lunesta|Sonata|Rozerem|Vivitrol|Sublocade|Zubsolv|Antabuse|Lucemyra|"
    "Percocet|Vicodin|Dilaudid|Nucynta|Opana|Duragesic|Demerol|Toradol|Mobic|Voltaren|Relafen|Soma|Robaxin|Skelaxin|Zanaflex|Savella|Lidoderm|Exparel|Marcaine|Naropin|"
    "Diprivan|Amidate|Anectine|Zemuron|Nimbex|Bridion|Sugammadex|Neo-Synephrine|Vasostrict|Giapreza|Adrenalin|Primacor|Nexterone|Cardizem|Cardene|Cleviprex|Nitropress|Brevibloc|"
    "Multaq|Ranexa|Corlanor|Verquvo|Kerendia|Inpefa|Camzyos|Vyndamax|Leqvio|Nexletol|Vascepa|Lovaza|Tricor|Zocor|Pravachol|Livalo|Benicar|Avapro|Micardis|Edarbi|Tekturna|"
    "Procardia|Plendil|Bystolic|Tenormin|Inderal|Catapres|Minipress|Hytrin|Cardura|Aldactone|Inspra|Demadex|Diamox|Samsca|Savaysa|Arixtra|Fragmin|Angiomax|Integrilin|Aggrastat|"
    "Kengreal|Activase|TNKase|Kcentra|Andexxa|Praxbind|Feraheme|Injectafer|Venofer|Epogen|Procrit|Aranesp|Neupogen|Neulasta|Nplate|Promacta|Doptelet|Tavalisse|Hemlibra|Advate|Novoseven|"
    "Oxbryta|Adakveo|Endari|Jakafi|Hydrea|Gleevec|Sprycel|Tasigna|Iclusig|Imbruvica|Calquence|Brukinsa|Venclexta|Gazyva|Revlimid|Pomalyst|Velcade|Kyprolis|Darzalex|Empliciti|Xgeva|Zometa|"
    "Tecentriq|Imfinzi|Libtayo|Yervoy|Tagrisso|Alecensa|Lorbrena|Tafinlar|Mekinist|Lumakras|Enhertu|Kadcyla|Perjeta|Trodelvy|Verzenio|Kisqali|Ibrance|Faslodex|Arimidex|Femara|Aromasin|Zytiga|"
    "Xtandi|Erleada|Nubeqa|Lupron|Firmagon|Orgovyx|Pluvicto|Xofigo|Lynparza|Zejula|Cabometyx|Lenvima|Nexavar|Sutent|Inlyta|Votrient|Stivarga|Lonsurf|Xeloda|Abraxane|Gemzar|Alimta|Taxotere|"
    "Kymriah|Yescarta|Breyanzi|Carvykti|Abecma|Blincyto|Actemra|Kevzara|Orencia|Simponi|Cimzia|Ilaris|Kineret|Arcalyst|Olumiant|Xeljanz|Tremfya|Ilumya|Siliq|Taltz|Bimzelx|Entyvio|Zeposia|"
    "Benlysta|Saphnelo|Lupkynis|CellCept|Prograf|Rapamune|Neoral|Imuran|Plaquenil|Arava|Krystexxa|Uloric|Colcrys|Forteo|Tymlos|Evenity|Boniva|Reclast|Evista|Miacalcin|Natpara|Sensipar|"
    "Victoza|Saxenda|Rybelsus|Zepbound|Byetta|Bydureon|Tradjenta|Onglyza|Invokana|Steglatro|Actos|Amaryl|Glucotrol|Glucophage|Toujeo|Basaglar|Levemir|Tresiba|Novolog|Apidra|Fiasp|Admelog|Afrezza|"
    "Armour Thyroid|Cytomel|Tapazole|Cortef|Florinef|Korlym|Isturisa|Sandostatin|Somatuline|Signifor|Genotropin|Increlex|AndroGel|Testopel|Clomid|Ovidrel|Gonal-F|Premarin|Estrace|Prempro|Provera|"
    "Yaz|NuvaRing|Ortho Tri-Cyclen|Plan B|Ella|Kyleena|Skyla|Liletta|Implanon|Orilissa|Myfembree|Makena|Methergine|Hemabate|Cytotec|Cervidil|Pitocin|RhoGAM|Diclegis|Reglan|Compazine|Phenergan|"
    "Aloxi|Emend|Varubi|Dexilant|Nexium|Aciphex|Carafate|Pepcid|Linzess|Amitiza|Trulance|Movantik|Relistor|MiraLAX|Dulcolax|Senokot|Colace|GoLYTELY|Suprep|Lomotil|Imodium|Viberzi|Xifaxan|Dificid|"
    "Vowst|Zinplava|Ocaliva|Rezdiffra|Creon|Zenpep|Gattex|Asacol|Lialda|Pentasa|Uceris|Flovent|Qvar|Pulmicort|Breo|Dulera|Trelegy|Breztri|Anoro|Stiolto|Combivent|Atrovent|Xopenex|Nucala|Fasenra|"
    "Tezspire|Daliresp|Ohtuvayre|Esbriet|Ofev|Trikafta|Kalydeco|Pulmozyme|Tracleer|Opsumit|Letairis|Uptravi|Adempas|Remodulin|Tyvaso|Winrevair|Revatio|Cialis|Levitra|Myrbetriq|Vesicare|Detrol|Ditropan|"
    "Botox|Dysport|Xeomin|Juvederm|Restylane|Eucrisa|Elidel|Protopic|Opzelura|Soriatane|Accutane|Efudex|Aldara|Picato|Lamisil|Nizoral|Sporanox|Noxafil|Vfend|Cresemba|Cancidas|Mycamine|AmBisome|"
    "Zithromax|Biaxin|Levaquin|Avelox|Keflex|Omnicef|Suprax|Ancef|Maxipime|Fortaz|Teflaro|Zerbaxa|Avycaz|Fetroja|Merrem|Invanz|Primaxin|Unasyn|Timentin|Cubicin|Zyvox|Tygacil|Dalvance|Orbactiv|Xenleta|"
    "Flagyl|Cleocin|Vibramycin|Nuzyra|Monurol|Pyridium|Uribel|Priftin|Sirturo|Lampit|Malarone|Coartem|Stromectol|Albenza|Valcyte|Prevymis|Livtencity|Xofluza|Veklury|Lagevrio|Actimmune|Gamunex|Privigen|"
    "Lucentis|Eylea|Vabysmo|Beovu|Xalatan|Lumigan|Combigan|Cosopt|Restasis|Xiidra|Ozurdex|Iluvien|Visudyne|Ciprodex|Astelin|Nasonex|Rhinocort|Allegra|Xyzal|Sudafed|Mucinex|Robitussin|Tessalon|NyQuil|"
    "LigaSure|Harmonic|Thunderbeat|Endo GIA|EndoCatch|Veress|Hasson|Bookwalter|Balfour|Weitlaner|Gelpi|Richardson|Deaver|Army-Navy|Adson|DeBakey|Kocher|Kelly|Babcock|Allis|Metzenbaum|Mayo|Satinsky|"
    "Frazier|Poole|Yankauer|Fogarty|Foley|Coudé|Malecot|Groshong|Hickman|Broviac|Quinton|Permcath|Tesio|Port-A-Cath|PowerPort|Mediport|PICC|Arrow|Cordis|Swan-Ganz|Vigileo|FloTrac|Impella|Tandem|HeartMate|"
    "HeartWare|Watchman|Amulet|MitraClip|TriClip|Sapien|CoreValve|Evolut|Amplatzer|Micra|Leadless|Reveal LINQ|Zio|Zio Patch|Holter|LifeVest|Xience|Resolute|Synergy|Taxus|Cypher|Angio-Seal|Perclose|"
    "TR Band|Greenfield|Celect|Denali|Pipeline|Solitaire|Trevo|Penumbra|Codman|Strata|Certas|Ommaya|Camino|Licox|Ventrix|Mayfield|Jackson table|Bair Hugger|Arctic Sun|Alaris|Plum|Baxter|Sigma|CADD|"
    "Kangaroo|Dobhoff|Salem Sump|Levin|Keofeed|Mic-Key|Sengstaken|Blakemore|Minnesota tube|Bakri|Jackson-Pratt|Blake|Penrose|Hemovac|Davol|Pleur-evac|Heimlich|Thopaz|PleurX|Aspira|Wound VAC|Prevena|"
    "Strattice|AlloDerm|Permacol|Surgisis|Marlex|Prolene|Vicryl|Monocryl|PDS|Ethibond|Ethilon|Nurolon|Dermabond|Steri-Strip|Tegaderm|Mepilex|Aquacel|Duoderm|Xeroform|Adaptic|Kerlix|Coban|Unna|Profore|"
    "ChloraPrep|DuraPrep|Betadine|Hibiclens|Surgicel|Gelfoam|Floseal|Tisseel|Evicel|Arista|Surgiflo|Avitene|Seprafilm|Interceed|Lap-Band|Orbera|Endobarrier|Linx|Stretta|Enterra|InterStim|Urolift|Rezum|"
    "AMS 800|Coloplast|Advantage sling|Essure|Filshie|NovaSure|MyoSure|Kiwi|Bakri|Cook|Kelvin|Zimmer|Stryker|DePuy|Synthes|Arthrex|Biomet|Exactech|Oxford knee|Persona|Attune|Mako|da Vinci|ROSA|Taylor frame|"
    "Aircast|CAM boot|Miami J|Aspen|Philadelphia collar|Halo|Boston brace|Milwaukee brace|TLSO|Jewett|Buck|Thomas splint|Böhler|Spica|Orthofix|Exogen|Synvisc|Euflexxa|Supartz|Kenalog|Depo-Medrol|Celestone|"
    "Passy-Muir|Shiley|Bivona|Portex|Ambu|LMA|King LT|Combitube|GlideScope|C-MAC|McGrath|Bullard|Eschmann|Cook exchange|Airvo|Optiflow|Vapotherm|BiPAP|Trilogy|Drager|Servo|Hamilton|Puritan Bennett|Oxylator|"
    "Inogen|Omnipod|Dexcom|Libre|FreeStyle Libre|Guardian|Minimed|Tandem t:slim|Accu-Chek|Contour|OneTouch|Prodigy|Lucas|AutoPulse|Zoll|LifePak|Stryker stretcher|Hoyer|Sara Stedy|Posey|Broda|Geri chair|"
    "Pyxis|Omnicell|MediTech|Epic|Cerner|PowerChart|Athena|eClinicalWorks|Kronos|Vocera|TigerConnect|Doximity|Surescripts|MyChart|Dragon|Nuance|Abridge|PACS|Synapse|Quitline|Lifeline|SmartPhrase|"
    "Cologuard|Oncotype|MammaPrint|Decipher|FoundationOne|Guardant|Prosigna|Afirma|ThyroSeq|Natera|Panorama|Harmony|QuantiFERON|T-SPOT|Monospot|BinaxNOW|Sofia|GeneXpert|BioFire|Vitek|BACTEC|Hemoccult|"
    "FibroScan|FeNO|iSTAT|Coaguchek|Accucheck|Clinitek|Lexiscan|Cardiolite|Myoview|Definity|Optison|Gadavist|Dotarem|Eovist|Omnipaque|Isovue|Visipaque|Gastrografin|Lipiodol|DaTscan|Amyvid|Axumin|"
    "Ensure|Glucerna|Nepro|Jevity|Osmolite|Vital|Peptamen|Pedialyte|Gatorade|Boost|Beneprotein|Thick-It|Similac|Enfamil|Neocate|Nutramigen|Elecare|Pregestimil|Metamucil|Citrucel|Benefiber|Culturelle"
)

# Tests, tools and grades with what stands behind them.
SCALES = values(
    "Braden|Morse|ESI|GCS|RASS|CAM-ICU|CIWA|CIWA-Ar|COWS|NEWS|NEWS2|MEWS|qSOFA|SOFA|APACHE II|SAPS|NIHSS|mRS|MELD|MELD-Na|Child-Pugh|CHA2DS2-VASc|HAS-BLED|HEART|TIMI|GRACE|PERC|Wells|YEARS|"
    "CURB-65|PSI|BISAP|Ranson|Glasgow-Blatchford|AIMS65|Lung-RADS|BI-RADS|TI-RADS|LI-RADS|PI-RADS|O-RADS|C-RADS|CAD-RADS|Bosniak|Gleason|ECOG|KPS|NYHA|ACC stage|Killip|CCS|Rutherford|Fontaine|CEAP|"
    "WIfI|Wagner|Mayo score|UCEIS|CDAI|Rutgeerts|Hinchey|Forrest|LA grade|Prague|Paris|Boston prep|AJCC|FIGO|TNM|Ann Arbor|Deauville|IPSS-R|ISS|R-ISS|PHQ-2|PHQ-9|GAD-7|AUDIT-C|CAGE|DAST-10|PCL-5|"
    "MDQ|Y-BOCS|EPDS|C-SSRS|MoCA|MMSE|SLUMS|CDR|Katz|Barthel|FIM|PPS|CPC|ASA|Mallampati|Apgar|Apgars|Ballard|Bishop|Aldrete|PEWS|FLACC|PRAM|Westley|Tanner|SMR|VAS|NRS|ODI|DAS28|SLEDAI|BASDAI|PASI|"
    "DLQI|Hurley|Fitzpatrick|Clavien|ISS|RTS|TBSA|FEV1|FVC|PEFR|AHI|ESS|IPSS|AUA|SHIM|ICIQ|POP-Q|EDSS|UPDRS|Hoehn and Yahr|ALSFRS|Rankin|Fisher|Hunt-Hess|Spetzler-Martin|House-Brackmann|Kellgren|"
    "Outerbridge|Garden|Gustilo|Weber|Salter|Pauwels|Neer|Tile|Denis|AOSpine|Frankel|ASIA|Gartland|Catterall|Herring|Graf|Risser|Cobb|Centor|HIT score|4Ts|ISTH|PLASMIC|FIB-4|APRI|NAFLD fibrosis|ASTRAL"
)
SCALE_VALUES = values(
    "0|1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20|21|22|24|28|35|45|60|-1|-2|-3|+1|+2|I|II|III|IV|IIa|IIIB|2a|2b|3A|4A|4B|4X|5V|A|B|C|B7|C10|1-2|2/2|4+3|3+4|8/9|"
    "9 and 9|0-1|low|high|moderate|neg|negative|positive"
)

# Written by hand and in haste; with letters that stand for something.
SHORT_WORDS = values(
    "pt|pts|hx|dx|tx|rx|sx|fx|bx|cx|abx|htn|dm|cad|chf|copd|ckd|afib|dvt|pe|uti|sob|cp|abd|neuro|resp|cards|ortho|heme|onc|renal|endo|rheum|derm|psych|peds|gyn|surg|vasc|trauma|"
    "pcp|attg|res|med|meds|labs|bili|cr|trop|lac|gluc|plt|hgb|hct|wbc|inr|ptt|alk phos|lipase|bnp|dimer|utox|ua|cath|stent|lap|chole|appy|ex lap|hemi|washout|recon|mesh|drain|"
    "azithro|vanc|zosyn|cefe|ceftri|mero|levo|cipro|doxy|bactrim|flagyl|amox|gent|tobra|fluc|micafungin|bival|argatroban|hep|hep gtt|lovenox|warf|apix|riva|asa|plavix|statin|metop|"
    "dilt|amio|dig|lasix|bumex|spiro|lisin|losart|pred|solumedrol|dex|hctz|neb|nebs|duoneb|albuterol|ivf|bolus|pressors|levophed|vaso|epi|propofol|fent|versed|ketamine|roc|sux|"
    "precedex|ativan|haldol|seroquel|zyprexa|tylenol|toradol|oxy|dilaudid|morphine|zofran|reglan|ppi|famotidine|insulin|lantus|ssi|k|mag|phos|ca|bicarb|summ|dc summ|d/c|dispo|f/u|"
    "wks|wk|yo|mo|hrs|min|gtt|q6|qhs|bid|prn|x2|x3|w/|w/o|s/p|c/o|r/o|b/l|2/2|aka|ddx|ros|exac|rehab|snf|ltac|hospice|consult|recs|pls|thx|asap|re|vs|ok to|now?|ddimer|echo|tte|tee"
)
CAPITALS = values(
    "MVC|MVA|GSW|MTP|TXA|FAST|RSI|PEA|VF|VT|SVT|AVNRT|WPW|LBBB|RBBB|LAFB|QRS|QTc|PR|ST|NSR|STEMI|NSTEMI|UA|AVR|MVR|TAVR|CABG|PCI|DES|BMS|LAD|RCA|LCx|EF|LVEF|HFrEF|HFpEF|ADHF|ICD|CRT-D|PPM|LVAD|"
    "ECMO|IABP|CVVH|HD|PD|AVF|AVG|TKA|THA|ORIF|IMN|ACL|MCL|ROM|WBAT|NWB|TTWB|DJD|OA|RA|SLE|PMR|GCA|GBM|ICH|SAH|SDH|EDH|TBI|CVA|TIA|MCA|ACA|PCA|ICA|NPH|LP|CSF|EEG|EMG|NCS|MS|ALS|MG|GBS|CIDP|LBD|FTD|"
    "EDMD|DMD|SMA|PEG|PEJ|NGT|OGT|TPN|NPO|SBO|LBO|GIB|UGIB|LGIB|EGD|ERCP|MRCP|EUS|TIPS|HRS|SBP|HE|HCC|PBC|PSC|AIH|NASH|UC|CD|IBD|IBS|GERD|MBS|FEES|SLP|PT|OT|RT|RN|CNA|PCT|HUC|SW|CM|MSW|EDP|HCP|POA|"
    "DNR|DNI|CMO|POLST|MOLST|AMA|LOS|ADT|CSN|PRBC|FFP|PLT|CRYO|HIT|TTP|ITP|DIC|VOC|ACS|AVN|GVHD|BMT|SCT|AML|ALL|CLL|CML|MM|MGUS|NHL|DLBCL|HL|NSCLC|SCLC|RUL|RML|RLL|LUL|LLL|GGO|ILD|IPF|UIP|OSA|CPAP|"
    "BIPAP|HFNC|NRB|NC|RA|ABG|VBG|PFT|DLCO|PE|DVT|IVC|CTPA|CTA|MRA|MRI|FLAIR|DWI|ADC|PET|SPECT|DEXA|KUB|CXR|US|IVP|VCUG|UTI|BPH|TURP|TURBT|PVR|ESRD|AKI|ATN|CKD|FSGS|IGAN|GDM|PPROM|PROM|IUGR|IUFD|PPH|"
    "VBAC|SVD|NSVD|LTCS|TOLAC|GBS|EDD|LMP|IUD|OCP|PCOS|BV|PID|HSV|HPV|CIN|LEEP|BSO|TAH|TLH|NICU|PICU|MICU|SICU|CCU|CVICU|PACU|ED|OR|L&D|ICU|SNF|LTAC|IRF|ALF|HTN|DM2|T2DM|T1DM|DKA|HHS|HLD|CAD|PAD|PVD|"
    "COPD|CHF|AF|AFIB|ADHD|MDD|GAD|PTSD|BPD|OUD|AUD|SI|HI|AVH|NKDA|PCN|NSAID|ACEI|ARB|BB|CCB|SGLT2|GLP-1|DOAC|LMWH|ASA|TPA|TNK|ERT|IVIG|PLEX|CAR-T|CAR T|HSCT|TKI|ICI|XRT|SBRT|ARIA|APOE|BRCA|EGFR|ALK|KRAS|"
    "PSA|CEA|AFP|LDH|CRP|ESR|ANA|ANCA|RF|CCP|HLA-B27|TSH|PTH|BNP|CK|CKMB|LFT|BMP|CMP|CBC|COAGS|PT/INR|UDS|BAC|RPR|RSV|VRE|ESBL|CRE|MRSA|MSSA|CDIFF|CLABSI|CAUTI|VAP|HAP|CAP|SIRS|ARDS|MODS|VS|BP|HR|RR|"
    "SPO2|I&O|PERRLA|EOMI|RRR|CTAB|NTND|NAD|AAOX3|WNL|WDWN|JVD|ROS|HPI|PMH|PSH|FHX|SHX|SOAP|SBAR|PIV|CVC|PICC|EJ|IJ|A-LINE|ETT|LMA|BVM|NPA|OPA|C-COLLAR|LSB|KED|EKG|ECG|12-LEAD|LKW|ETOH|LOC|AOX4|PMS|CMS|SCD|TED"
)

LANGUAGES = values(
    "Spanish|Mandarin|Cantonese|Vietnamese|Tagalog|Korean|Japanese|Russian|Ukrainian|Polish|Portuguese|Brazilian Portuguese|French|Haitian Creole|Haitian|Creole|Somali|Amharic|Tigrinya|Oromo|Swahili|Arabic|Farsi|Dari|"
    "Pashto|Urdu|Hindi|Punjabi|Bengali|Gujarati|Tamil|Telugu|Nepali|Burmese|Karen|Hmong|Lao|Khmer|Thai|Samoan|Tongan|Marshallese|Navajo|Yiddish|Hebrew|Armenian|Greek|Italian|German|Dutch|Albanian|Bosnian|"
    "Serbian|Romanian|Hungarian|Czech|Turkish|Kurdish|Wolof|Yoruba|Igbo|Twi|Hausa|Fula|Kinyarwanda|K'iche'|Mixteco|Quechua|ASL|American Sign Language|Guatemalan|Honduran|Salvadoran|Cuban|Dominican|Puerto Rican|"
    "Jamaican|Nigerian|Ghanaian|Kenyan|Ethiopian|Eritrean|Sudanese|Congolese|Egyptian|Syrian|Iraqi|Iranian|Afghan|Pakistani|Indian|Bangladeshi|Filipino|Chinese|Taiwanese|Indonesian|Māori|Maori|Native Hawaiian|"
    "Alaska Native|American Indian|Ashkenazi Jewish|Sephardic|Catholic|Muslim|Jehovah's Witness|Mormon|Baptist|Buddhist|Hindu|Sikh|Amish|Mennonite|Orthodox Jewish|Irish|Scottish|Welsh|English|Swedish|Norwegian|Danish"
)

TRIALS = values(
    "SPRINT|ACCORD|ALLHAT|DAPA-HF|EMPEROR|PARADIGM-HF|PARAGON|VICTORIA|GALACTIC|AFFIRM|RACE II|EAST-AFNET|CABANA|ROCKET-AF|ARISTOTLE|RE-LY|ENGAGE|COMPASS|PEGASUS|PLATO|TRITON|ISCHEMIA|COURAGE|FAME|SYNTAX|EXCEL|"
    "NOBLE|PARTNER|COAPT|MITRA-FR|CREST|NASCET|ACST|CHANCE|POINT|THALES|DAWN|DEFUSE|MR CLEAN|EXTEND|ECASS|INTERACT|ATACH|CRASH-2|CRASH-3|PROPPR|PATCH|NICE-SUGAR|ARISE|ProCESS|ProMISe|CLOVERS|SMART|SALT-ED|PLUS|"
    "ADRENAL|APROCCHSS|VANISH|ATHOS|SOAP II|PROSEVA|ARMA|ROSE|EOLIA|FACTT|STARRT-AKI|IDEAL|RECOVERY|ACTT|REMAP-CAP|SOLIDARITY|PANORAMIC|UKPDS|DCCT|ADVANCE|VADT|LEADER|SUSTAIN|SURPASS|STEP|SELECT|CREDENCE|"
    "EMPA-REG|CANVAS|DECLARE|FIDELIO|JUPITER|FOURIER|ODYSSEY|IMPROVE-IT|REDUCE-IT|STRENGTH|WHI|HERS|KEYNOTE-189|CheckMate|IMpower|PACIFIC|ADAURA|FLAURA|MONALEESA|DESTINY|KATHERINE|APHINITY|TAILORx|RxPONDER|"
    "STAMPEDE|LATITUDE|VISION|PROfound|CLARITY|TRAILBLAZER|EMERGE|TORCH|UPLIFT|FLAME|IMPACT|ETHOS|SYGMA|NOVELTY|SONIC|GEMINI|UNITI|VARSITY|SEAVUE|NOR-SWITCH|STAR*D|CATIE|STEP-BD|ARRIVE|MFMU|CHAP|ASPRE|PRECIS-2"
)

# Health systems and hospitals as people say them, without a word that tells what they are.
SYSTEMS = values(
    "Banner|Kaiser|Sutter|Dignity|Providence|Intermountain|Ascension|Advocate|Aurora|Trinity|Mercy|OhioHealth|ProMedica|Beaumont|Spectrum|Corewell|Sparrow|Sanford|Essentia|Allina|Fairview|HealthPartners|Marshfield|"
    "Gundersen|Froedtert|UnityPoint|MercyOne|Avera|Geisinger|UPMC|Penn|Jefferson|Temple|Einstein|Lehigh Valley|Main Line|Cooper|Virtua|Hackensack|Atlantic|RWJ|Northwell|Montefiore|Maimonides|Lenox Hill|Weill Cornell|"
    "Columbia|Rochester General|Strong|Albany Med|Baystate|UMass|Lahey|Tufts|Beth Israel|BIDMC|Brigham|Mass Eye and Ear|Dartmouth|Maine Med|Yale|Hartford|Lifespan|Christiana|MedStar|Inova|Sentara|Carilion|VCU|UVA|"
    "Novant|Atrium|WakeMed|UNC|Duke|Cone|Prisma|Roper|MUSC|Piedmont|Emory|Grady|Wellstar|Northside|AdventHealth|Orlando Health|Tampa General|Moffitt|BayCare|Broward Health|Jackson|Baptist|Cleveland Clinic|MetroHealth|"
    "Ochsner|Willis-Knighton|Baylor Scott|Methodist|Memorial Hermann|Texas Health|Parkland|JPS|UT Southwestern|Christus|St. David's|Seton|OU|INTEGRIS|Saint Francis|Hillcrest|Mercy|CoxHealth|BJC|SSM|SLU|Truman|"
    "Nebraska Med|Bryan|CHI|Centura|UCHealth|Denver Health|Presbyterian|Lovelace|Renown|UMC|Valleywise|HonorHealth|Scripps|Sharp|UCSD|Cedars|UCLA|USC|Harbor|Loma Linda|Stanford|UCSF|Zuckerberg|Alameda|John Muir|"
    "OHSU|Legacy|Samaritan|PeaceHealth|Swedish|Harborview|Virginia Mason|MultiCare|Overlake|Kootenai|St. Luke's|Billings Clinic|Benefis|Queen's|Straub|Hopkins|Sinai|Bellevue|Elmhurst|Vidant|Erlanger|Vanderbilt|Ballad"
)

# A name by which a person is called although it is a month, a word or a thing.
WORD_NAMES = values(
    "April|May|June|August|Augusta|Summer|Autumn|Winter|Dawn|Eve|Sunny|Rose|Lily|Iris|Ivy|Violet|Daisy|Hazel|Olive|Ginger|Basil|Sage|Rosemary|Clover|Fern|Holly|Heather|Willow|Ash|Rowan|Wren|Robin|Jay|Lark|Raven|Dove|"
    "Grace|Joy|Hope|Faith|Charity|Mercy|Patience|Prudence|Felicity|Verity|Honor|Haven|Harmony|Melody|Carol|Piper|Harper|Chase|Hunter|Fisher|Archer|Mason|Parker|Tanner|Carter|Cooper|Porter|Page|Reed|Clay|Cliff|Dale|"
    "Glen|Brook|Brooks|River|Lake|Rain|Skye|Star|Stone|Rocky|Sandy|Pearl|Ruby|Jade|Amber|Opal|Coral|Gemma|Bill|Mark|Frank|Grant|Drew|Will|Rob|Sue|Pat|Art|Gene|Guy|Rich|Ernest|Earnest|Miles|Major|King|Duke|Earl|Prince|"
    "Queen|Angel|Bishop|Dean|Judge|Chance|Lucky|Buddy|Bud|Buck|Sonny|Chip|Champ|Ace|Rusty|Dusty|Curly|Red|Gray|Blue|Violet|Scarlett|Sterling|Silver|Trey|Junior|Tink|Bear|Wolf|Fox|Christian|German|French|Roman|Israel|"
    "Paris|London|Austin|Dallas|Houston|Sydney|Adelaide|Florence|Savannah|Carolina|Virginia|Georgia|Dakota|Montana|Jordan|Chad|Kenya|India|China|Asia|Ireland|Chelsea|Brooklyn|Madison|Lincoln|Jackson|Trenton|Troy|Orlando"
)

BELONGING = values(
    "rules|sign|drain|versus|vs|vs.|or|and|type|phenomenon|criteria|score|scale|catheter|dosing|dose|boxed warning|box warning|side effects|label|package insert|copay card|prior auth|interaction|allergy|rash|trial|"
    "levels|infusion|injection|patch|pen|inhaler|pump|implant|device|line|tube|port|stent|valve|graft|clip|suture|mesh|dressing|prep|gel|cream|test|assay|kit|screen|panel|monitoring|protocol|guideline|calculator|nomogram"
)

# With people, places and numbers.
CLINICAL = _lines(r"""
{mil} [Received|Recieved] [report|pt|handoff] from {first}[ {last}|], RN. [Pt|Patient] [A&Ox4|alert, oriented x{n}|resting|c/o {symptom}].
{mil} [{first}|{first} RN|Nurse {first}|Dr {last}|RT {first}] [paged|notified|at bedside|called|aware|updated|given report]. {mil} {clause}.
{mil} [Report|Handoff|Bedside report] to {first}[ {last}|]. {brand} {nn} checked. {caps} {short}.
{mil} {drug} {nn} mg [IV|PO|IM] given [by {first}|per {doctor}|via PIV L FA|]. {mil} {scale}, {scale}. {mil} {short} {short}
{mil} Call from {family} {first} [{phone}|at {phone}|], updated on plan. {mil} {caps} {caps} {phrase}.
[Pt|Patient|Mr. {last}|Mrs {last}|Family|Her {family} {first}|His {family} {name}] [NOT|DOES NOT|DID NOT|MUST NOT|NO LONGER|DO NOT] [to be {verb}|{phrase}|be told|wish to be contacted|visit]; {clause}.
[asks|asked|requests|states] that [her|his] {family} {first}[ {last}|] [NOT|DO NOT|never|not] [{phrase}|be told|be {verb} {phrase}].
{name} [DENIES|DENIED|HAS NO|NO|NOT|DO NOT] {symptom}. {caps}.
{first} {last} {caps}, {short} {n}, [start|hold|stop] {drug}?
{last} {caps} {caps} {age}[M|F|yo|], {scale}, {short}?
{name} {age}[yo|y|] [{caps}|{short}], {short} {n}.{n}, {short} {n}, {drug}?
{name}, {language}[ speaking| creole speaking|-speaking|], {lab}, [needs|wants|on] {drug}
{name} {language} [interpreter|speaking], {caps} {scale}, {short}?
[pt|patient|mother|father|{family}] of {name}, {language} only, [asks|wants] {drug} [vs|or] {brand}
{caps} called [from {ward}|from {facility}|] critical [trop|K|lactate|Hgb|INR|gluc] for {last}[, bed {n}| bed {n}| in {n}| rm {n}|], {short}?
[critical|panic|stat] [lab|trop|K|value|result] for {last} [bed {n}|rm {n}|in {ward}|], [start|hold|give] {drug}?
[cards|ortho|neuro|GI|surg|renal|heme|ID|psych|ENT|uro|peds|onc|cross-cover|night float|trauma attg|attg|fellow|resident|intern|charge|triage RN|RN|RT|SLP|PT|OT|SW|CM|tech|EDMD|NP|PA] {last} [at bedside|called|aware|paged|notified|to see|said {phrase}|recs {short}|{mil}|signing out]
[Triage RN|Primary RN|EDMD|Attending|Attg|Resident|Scribe|Charge|RT|Medic]: {name} {mil}. {caps} {scale}.
[{n} kids|Kids|Children|Sons|Daughters|Siblings|Grandkids][:|] {first} {age}, {first} {age}[,| and] {first} {age}[ w/ {family} in {city}|].
[{n} kids|two children|her boys|his girls] {first} {age}[,| &| and] {first} {age} [live with|stay w/|w/] {family}[ {first}|][ in {city}|].
[{first} ({age}), {first} ({age}) and {first} ({age})|{first}, {age}; {first}, {age}] [are well|live at home|all sick|{phrase}].
[goes by|called|AKA|aka|nicknamed|known as|prefers|answers to] "{nick}"[, {clause}|. {caps} {scale}|], [lives in {city}|from {place}|]
{first} "{nick}" {last} [c/o {symptom}|, {age}, {condition}|on {drug}|missed HD]
[mom|dad|wife|husband|{family}] {first} [and|&] [his|her|] [{family} |]"{nick}" [not to visit|at bedside|{phrase}]
name unknown[,| -|] [maybe|possibly|bystander says|goes by] "{first}"
[Mr.|Ms.|Mrs.|Mr|Pt|Patient|pt] {letter}[.|] {age}, {caps}, {scale}, {drug}?
[pt|patient|case of|re] {initials}[, {age}| {age}yo|], {condition}[ at {facility}|], {drug}?
{initials} [is a|,] {age}[yo|-year-old|] {sex} [with|w/] {condition}[, from {city}|].
[I|We|She|He|They] [told|asked|saw|met|thanked|called|reminded|gave|owe|believe|trust] {wordname} [that|about|when|how|,|to] {clause}.
{wordname} [said|agreed|left|called|thinks|arrived|told {wordname}|and {wordname} {verb}|will drive|was late|has moved to {place}] [that|because|and|with] {clause}.
[My|Her|His|Our] {family} {wordname} [has {condition}|takes {drug}|is {age}|{phrase}|and I {phrase}].
{wordname} {last}[,| is| was| has|:] [{age}|{clause}|seen at {facility}|{condition}].
[says|per|told by|seen by|d/w|discussed with|spoke to|husband of|mother of|asked by|for] {wordname} {last}[,|.| -] {short} {n}
[https://www.|https://|http://|www.]{host}.[com|org|example|net]/[about|team|staff|index.html|contact|] [lists|names|shows|credits|has|says] {name} [as [the|an] {role}|as the author|on staff|, {phrase}].
[see|from|per|profile at|posted on] {host}.[com|org|example|net][/{word}|]: {name}[, {credential}|], {phrase}.
[CT|MRI|PET/CT|Echo|Labs|Records|Films|Notes|Imaging|Biopsy|Transfer|Outside records|CXR|Discs] [from|at|faxed from|obtained from|per|via] {system} [dated {date}|reviewed|pending|show {condition}|{phrase}|in {year}].
[came|transferred|txfr|xfer|referred|transport|sent|discharged|moved] [from|to] {system}[, {short}| for {condition}| on {date}|, {drug}?| with {caps}].
[seen|followed|admitted|treated|delivered|born|works|volunteers|rounding|dialyzes|infuses|gets chemo] at {system}[, {short}| for {condition}| by {doctor}| in {city}|, {scale}| and {system}|].
[flown|airlifted|transported|brought|brought in|picked up|transferred|BIBA] [in |]by {transport}[ from {city}| from the scene| at {mil}|, ETA {n} min|].
[{transport}|{transport} crew|Medics from {transport}] [ETA|arrived|at scene|reports|gave] [{mil}|{n} min|{phrase}|GCS {n}].
[Arrived by|Via|Mode of arrival:|Per] {transport}[ unit {n}|] [{mil}|, run #{nn}|, from {street}|]
[Suboxone|methadone|dialysis|PT|home health|hospice|infusions|rehab|counseling|wound care|DME|oxygen] [from|through|via|with|by] {system}[ ({doctor})|, {phrase}|].
[member of|attends|belongs to|parishioner at|deacon at|sings at] {church}.
[Insurance|Ins|Payer|Plan|Coverage|Prior auth to|Covered by][:|] {company}[ by {company}|] ID {id}
[{system}|{facility}|{company}] [denied|approved|wants|faxed|requested|billed] [{drug}|prior auth|the claim|records|{phrase}].
[in|to|from|at|moved to|assigned|boarding in|now in|transfer to|going to|holding in|roomed in] {ward}[, {short}|. {caps}| with {family} {first}| at {mil}|].
{ward}: {last}[, {first}|] {age}[M|F] {caps}, {short}. {ward}: {last} {age}[M|F] {condition}.
{last} {ward} {caps} {short}; {last} {ward} {drug} due {mil}
[family|{family} {first}|visitors|police|chaplain|{company} rep] [waiting|in|updated] in {ward}.
[lives at|address|home address|residing at|staying at|resides at|from] {address}[, can|: is|, is|; needs|. Can|; does|, do|- is|, should|: can] [{first}|home health|she|he|insurance|it|we|the visiting nurse] {clause}?
[{family} of|patient|pt|] {name} [lives at|is at|of|,] {address}[, {clause}?|: {clause}?|? {clause}|; {caps} {scale}| has {condition}| with {family} {first}| and wants {drug}].
{address}: [what|which|is|are|how far is|does] {clause}?
{address}, [can|is|does|should|what|how|needs|has|was|who|and] {clause}[?|.]
[lives at|residing at|moved to|his flat is|deliver to|her new place is] {foreign}[, and|, but|; |.|, the] {clause}.
{foreign}, {zip} {city}[, {country}|]
{name}\n{foreign}\n{zip} {city}\n{country}
{name}\n{foreign}\n{city} - {state}\n{zip}\n{country}
{foreign} - {zip} {city}
{city}, {state}: {caps} {short}, [transfer|accept|drip and ship|TNK now]?
[from|lives in|drove from|visiting from|back from|drives in from|raised in] {city}[,| ] {state}[.|,|;] {brand} [ok|candidate|or {brand}|dose]?
[from|in|near|outside] {city}, {statename} [{brand}|{drug}|{caps}|{eponymbare}][?|.| ok?| or {brand}?]
{name} {city} {state}, {condition}, {caps} {scale}, {short}?
{name}, {city} {state} {zip}, {caps}, [hold|start] {drug}?
[{name}|{last}], [{age}, |]{caps} at {system} {city}, {short} {monthday}, {brand} choice w/ {drug}?
Seen at {system} in {city}[ by {doctor}|], {scale}. {drug}?
[Hospital|Facility|Clinic|Location]: {system} {city}
[this is|dictating|this is a dictation by|end of dictation|signed|transcribed for] [doctor|dr] {last}[, {credential}| {credential}|]
[Signed|Signed by|/s/|By|Read by|Electronically signed][:|] {name}[, {credential}| {credential}| {credential}, {credential}]\n{caps} {scale}
{name}\n{caps} {caps} {scale}\n{header}: {condition}
[C/O|Dr|Surgeon|Asst|Anes|Scrub|Circ|Assistant]: {last}\n{caps}: {short} {n}\n{brand} {nn}
{brand} placed by {doctor} at {system}; {scale}.
[Spoke|D/w|Paged|Discussed] with {last} [({specialty})|of {specialty}|re {caps}|], [recs|wants|says] {drug}, {short} {n}.
Seen by {last}[, who| on {date} who|;] [doubled|stopped|started|ordered|added] [her|his|] {drug}[; {scale}|].
[{first}|{last}|{doctor}] from [speech|PT|pharmacy|cards|ortho|the lab|registration|security|dietary|case management] says {caps} [{monthday}|tomorrow|next week]. {caps}?
[Ofc.|Officer|Trooper|Deputy|Sgt.|Det.|Security Ofc.|Medic|EMT|Chaplain|Interpreter|Coach|Principal|Warden|Detective] {last}[, badge {id}| {n}|] [at bedside|took report|requests {phrase}|notified {mil}].
[{name}|{first} {last}|{last}] is the [mayor|principal|sheriff|pastor|coach|owner|superintendent] of [{city}|{company}][, {clause}|].
[Mr.|Mrs.|Ms.] {last} of {city}, [the|a] {job}, [wants|has|on] {phrase}.
[stoma|wound|ostomy|charge|triage|float|school|scrub|research|hospice] nurse {first}[ {last}|] [{phrase}|notified|marked the site|to see {mil}].
[mom|dad|mum|grandma|grandpa|koro|nana|abuela|tía|oma|opa|nonna|lola|auntie|uncle] {first} [gave {drug}|at bedside|says {phrase}|brought {first} in|and [dad|mum] {first} present].
[baby|infant|toddler|twin A|twin B|newborn|preemie] {first}[ {last}|][,| is] {n} [months|weeks|mo], [at {facility}|{condition}|on {drug}|from {city}]
""")

# In words without capitals, as a machine writes down what is said: all of it is written small.
DICTATION = _lines(r"""
this is doctor {last} dictating [a clinic follow up|a discharge summary|an operative note|a consult] on {first} {last}[ that's spelled {phrase}|] medical record number {spelled}
[doctor|dr] {last} [saw|will see|operated on|called about|recommends {drug} for|is covering for doctor {last}] {first} {last} [at|in] {facility}
[she|he|the patient|{first}] was [last seen|seen|admitted|evaluated|treated] [here |]at {facility} on {month} {ordinal} and has since been in {system} with {condition} from {month} {ordinal} to {month} {ordinal}
treated with {drug} and {drug} per doctor {last} [at|of] {facility} [on {month} {ordinal}|in {month}|]
[chest x ray|ct|mri|ultrasound|echo] [read|reviewed|interpreted] by doctor {last} shows {phrase}
[impression|plan|assessment|history|medications] [one|two|three] {condition} [two|three] {drug} {phrase}
[follow up|return|recheck|she will follow up|he returns] in {n} weeks at the {city} [office|clinic|location] with [doctor {last}|my nurse {first}|{first} {last}]
[prior auth|claim|forms|paperwork] to {company} member number {spelled}
i [went over|discussed|reviewed] [risks|results|the plan] with {first} and [her|his] {family} {first}[ {last}|] [who agreed|today|by phone]
thank you {first} for [sharing|sending|referring] [her|him|this pleasant {sex}] [to us|]
end of [dictation|note] {first} {last} [md|do|np|pa]
end of dictation {letter} {last} [md|do]
[mister|missus|miss|mr|mrs|ms] {last} is a pleasant {age} year old {sex} from {city} [with|who has] {condition}
the patient is a {age} year old {sex} with {condition} on {drug} [no known allergies|denies {symptom}|here for follow up]
[denies|reports|has|no] {symptom} {symptom} or {symptom} period [vitals stable|lungs clear|heart regular|abdomen soft] period
[will start|continue|stop|increase] {drug} {n} milligrams [daily|twice a day|every other week] and [recheck|repeat] {phrase}
{first} lives [in|near] {city} with [her|his] {family} {first} and works at {company}
{first} {last} {month} {ordinal} nineteen {spelled} [male|female] {condition}
my name is {first} {last} i live in {city} and i was at {facility} [last week|in {month}|on {month} {ordinal}] for {symptom}
[can|should|does] {drug} [help|cause|interact with] {symptom} {phrase}
hi this is {first} calling for {first} {last} [about|regarding] [her|his] {drug} [please call back|from {pharmacy}]
[nurse|therapist|midwife|pharmacist|social worker] {first} [says|called|came by|will call] {phrase}
we saw {first} in the {city} clinic [and|with] doctor {last} {phrase}
""")

# Of the same shapes, without anybody in it.
HARMLESS = _lines(r"""
{mil} [Pt|Patient] [A&Ox4|resting|to {caps}|c/o {symptom}|repositioned|voided {nn} mL]. {mil} {drug} {nn} mg given. {mil} {scale}.
{mil} {scale}, {scale}. Refused {caps}. {mil} {n} unit {caps} started, {lab}. {mil} {caps} complete.
{mil}\n{mil} {short} {short}\n{mil} {caps} {n}
{mil} - {caps} {phrase}\n{mil} - {drug} {nn} mg {short}\n{mil} - {scale}
{mil}: {lab}\n{mil}: {lab}, {lab}\n{mil}: {scale}
{drug} {n} g given {mil} via PIV [L|R] [FA|AC|hand] {n}G, {short}.
{scale}\n{header}: {condition}\n{scale}
{caps}: {n}, {caps}: {n}.{n}, {caps} {nn}. {scale}. {scale}.
[PSH|PMH|Hx|s/p|PSHx][:|] {procedure} {year}, [L|R] {caps} {year}, {caps} {year}, {condition} {year}.
[PSH|Surgical history]: {caps} {year}; {procedure} ({year}), {eponymword} {year}.
{short} {n}, {short} {n}.{n}, {short} {nn}; {caps} {scale}?
{age}[M|F|yo|yoM|yoF| y/o M| y/o F] {caps} {caps} {year}, {short} {n}, {scale}, {drug}?
{age} y.o. [M|F] {caps} day {n}, {scale}. {caps} {short}.
[{short}|{caps}] {short} {short} [{n}|{caps}], {short} {short}
$[{nn}|{n}] [cash|copay|deductible], {caps} {caps} [{n}|{nn}]. [Belongings|Valuables]: [phone|purse|wallet|glasses|dentures|ring].
car {year} [sedan|truck|SUV|pickup|Silverado|Civic|Camry|F-150], {caps}, airbag +, {short}.
Pump {brand} {nn} [#{nn}|] checked, {caps} rate {nn} mL/h.
run #{nn}, unit {n}, {mil}: {caps}, {short}
[A|The|{n} Fr|{n}F|{n} mm|#{n}|No. {n}|{n}-0] {brand} [was|drain|tube|stitch|blade|catheter|port|sheath|needle|retractor] [placed|brought out|inserted|removed|used|passed] {phrase}.
[Using|With|Via|Through] [a|an|the] {brand}[,| and| device,| retractor,] [the {medical} was {verb}|{clause}].
[The {medical} was|Fascia|Skin|Mesh|Bowel|Wound] [divided|closed|secured|irrigated|prepped|reinforced] with {brand}[ and {brand}| {n}-0|].
[{n}|No] {brand} [left|in situ|removed|intact]; {brand} to [bulb suction|gravity|wall suction].
[What|Which|Why|How] [is|are|does|do|about] [the |]{brand} [{belong}|work|work for {condition}|approved for|dosed in {caps}|cost][?| and {brand}?]
What is the [{agency} |]boxed warning for {brand}?
[{brand}|{eponymbare}|{trial}|{scaleword}] [vs|vs.|versus|or|and|over|then|plus|with] [{brand}|{eponymbare}|{trial}|{scaleword}][?| in {condition}?| for {caps}?]
[Should|Can|Could|May|Does] [a nurse|I|we|the patient|one|pharmacy] [flush|hold|give|use|stop|combine|substitute|change|crush] [a |the |]{brand} [with|after|before|for|and] [heparin|{drug}|{caps}|{condition}]?
[Explain|Define|Describe|Compare|What is|Teach me|Summarize] [{eponymbare}|{eponymword}|the {eponymword}|{trial}|{scaleword}][, and| and|, or| versus|] [why|{eponymbare}|{eponymword}|{drug}|{phrase}][?|.|]
[Does|Do|Can|Is|Are] [the |]{eponymword} [explain|predict|help|outperform|apply|need|differ from] [{eponymword}|{phrase}|{condition}|{scaleword}]?
[Is it|Is this|Rule out|r/o|Query|Likely|Possible] {eponymbare} [or|versus|vs|and] pseudo-{eponymbare}[ {phrase}|]?
[What|Which] are normal [ESR|{caps}|{lab}] values by {eponymbare} [for age {age}|in {condition}|]?
[by|per|using|on|with] {eponymbare}[ {n}|,| and {eponymbare}|:] {phrase}, {lab}.
{eponymword} [positive|negative|neg|pos|present|absent|II|III|{n}|mild|bilat|noted], {eponymbare} [neg|pos|equivocal|II|III|IV|{n}].
[CXR|CT|ECG|Echo|MRI|US|EKG]: {eponymbare} [B lines|lines|sign|pattern|units {nn}|type {n}], [small effusions|{medical}|{caps}]. {caps}, {caps} {nn}.
[CXR|CT|ECG|EKG]: {short} {short}, {caps}, {caps} {nn}, {caps}. {scale}
{scale}, {scale}; {caps} {caps}, [suspicious|stable|{medical}|no change].
{scaleword} {scaleval} [lesion|nodule|mass|disease|adenopathy|diverticulitis|fracture|class|risk][, {scaleword} {scaleval}|], {short}.
[IMPRESSION|Impression|A/P|Assessment]:\n1. {caps}, {scale}: {drug}\n2. {caps} on {caps}: {short}\n3. [Borderline|Mild|Enlarging|Stable|Moderate|Persistent] {medical}.
[1|2|3]. [Borderline|Enlarging|Indeterminate|Incidental|Reactive|Chronic|Resolving] [{n}R|{n}L|{n}] {medical}. {eponymbare} [guidelines|society|criteria].
{language}[ interpreter| speaking| speaker|-speaking|] [used|needed|present|via iPad|requested|, {caps}|].
[translate|Translate|Explain|Write|Give] [this|discharge instructions|the handout|consent|{drug} instructions] [to|into|in] {language}[ for the family| at a 6th grade level|, {phrase}|].
[ok|safe|fine|possible] to [breastfeed|nurse|drive|fly|exercise|swim|shower|fast|travel|scuba] on {drug}?
[{trial}|the {trial} trial|the {trial} investigators|{trial} and {trial}] [showed|found|enrolled|excluded|suggest|used|: {phrase}|({year})] {phrase}.
[Based on|Per|After|Since|According to] {trial}[ and {trial}|], [is|should|do] {drug} [preferred|be used|help] [in|for] {condition}?
[{caps}|{caps} {caps}], {caps}, {caps}: [neg|{n}|{lab}|{short}].
{caps} [NOT|DO NOT|NO|DENIES|DENIED] {caps} {symptom}.
PT [DENIES|DENIED|REPORTS|STATES|REFUSED|NOT] {symptom}. NO {symptom}. DO NOT {word}.
[C-collar|Collar|Brace|Boot|Splint] {brand}.\n{caps} activated {mil}. {drug} {n} g at {mil}.
{caps} score {n}, {drug} or {short}, {short}?
{short} {short} [at|by] {mil}; {caps} {mil}, {drug} {mil}
[{n}|{nn}] [wks|wk|weeks|days|mo|yrs|hrs], [pcn|sulfa|latex|{drug}] allergic, {short}
{age}[yo|M|F], [HS football|college rower|retired|ranch hand|smoker], {condition}, return to [play|work|school]?
[level|Level] [1|2|I|II] trauma [activated|alert|center], {caps} {mil}.
[room air|bed rest|waiting room|bedside|trauma team|bay area|unit dose|tower of pillows|bed alarm|room temperature|single unit|ward clerk] {phrase}, {caps}.
[IP address|MAC address|email address|home address|mailing address] [is|in|on|logged in] [the note|the chart|PHI|a form][, is that {phrase}|?|: {clause}?]
[The|An|This] address [is|was|has] {clause}[?|.]
[HCP|POA|PCP|NOK|RN|MD|Quitline|Lifeline|Hotline|MyChart] [notified|aware|contacted|updated|given|{phrase}].
[If|When] [he|she|anyone] smokes [indoors|at home], {brand}. {brand} [handout|number] given.
[kicks a ball|walks|cruises|babbles|points|{n} words]; [{eponymword}|{condition}] [mild|moderate|none]. Impression: [preschool|viral|exercise-induced|infant|toddler|school-age|nocturnal] [wheeze|cough|eczema|enuresis], {short}
[stoma|wound|ostomy|charge|school] nurse [to see|consulted|marked|{phrase}]. [mother|father|sister|brother]-in-law [present|at bedside].
{n}. {brand} {nn} mg [daily|BID|weekly|monthly]\n{n}. {brand} {n} puffs [BID|PRN]\n{n}. {drug}
Meds: {brand}, {brand}, {drug}, {brand}[ {nn}|] and {drug}.
[on|taking|tried|failed|allergic to|switch to|stop|start|restart|added|refill] {brand}[ and {brand}|, {brand}|][,|.|?|;] {short} {n}
[{brand}|{drug}] {n} [mg|mcg|units] [qd|bid|qhs|prn|weekly], {brand} {n}%, {brand} pen
{brand}
{eponymbare}
{eponymword}
{caps} {caps}
{scale}
Can [{eponymbare}|{eponymword}] phenomenon explain [better|worse|improved] [staging|survival|outcomes] [in|for] {condition}?
[Does|Is|Can] the {systemplain} [fall risk tool|sepsis bundle|ABX guideline|diet|criteria|protocol|classification|nomogram|score] [outperform|better than|replace|validated vs] {scaleword}?
[aortic dissection|dissection|dissections]: {eponymbare} type [A|B] [vs|and] {eponymbare} [I|II|III], {drug}?
[{agency}|{agency}/{agency}] [criteria|cutoffs|dosing|staging|statement] for {caps} [in|after] {caps}, {scale}?
""")
