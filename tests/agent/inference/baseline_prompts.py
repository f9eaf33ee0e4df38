"""A prompt of each task that the baselines know by its form."""

CHOICE = """Answer with one letter.

Question: A child drinks milk and then has abdominal pain. Lactase is missing. What is wrong?
A. Coeliac disease
B. Missing lactase
C. Appendicitis with pain
Answer:"""


SENTENCES = """Output CORRECT, or the sentence ID and the corrected sentence.

Clinical Note: 0 A man has had fever and cough for two days.
1 The cough is dry and the fever is high.
2 He is given insulin glargine.

Answer:"""


QUANTITY = """Compute the requested value from the note.

Patient note: A man of 54 years. His weight is 70.5 kg. Creatinine is 1.2 mg/dL.
Question: What is the creatinine?
Answer with the calculated quantity only:"""


TEXT = """Summarise the conversation about the knee.

Conversation: [doctor] good morning. How is the weather?
[patient] my knee hurts since monday.

Summary:"""
