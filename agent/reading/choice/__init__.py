r"""Find the option that an answer to a multiple-choice question names: the documented letter extraction.

MedHELM accepts only the bare capital letter, so it scores "B.", "(B)" and "Answer: B" as wrong. Here an answer is read
as a careful person would read it, and stays unread where that person would ask back. Nothing is guessed.

Of an answer in JSON, `whole_answer` has only the value of the key that names the answer read, unless the reasoning
concludes that no option is right. The further steps, each in a module of its own:

1. `normalise` removes markup, and `dialogues` finds the last question of a dialogue, in front of which nothing is read.
2. `references` marks every place where the answer refers to an option: "(B)", "option B", the option's own text.
   After that, words inside an option's text ("not", "avoid") can no longer be taken for words of the answer.
3. `stated`, `lines` (with `line_beginnings`), `comments`, `sentences`, `elimination`, `distributions`, `rankings`,
   `programs`, `tables`, `bracketed_letters` and `other_languages` collect claims: statements that an option is the
   answer, each with its strength and rule. A statement that is denied, conditional or a question is no claim.
4. If there is no claim, `exceptions` reads "all of them except C" and lists with one that differs, `short_replies` "the
   second option" and "It doesn't.", `yes_or_no` "a cautious yes", and `content` the words that only one option has
   (`option_words`, `number_words`; words.yaml) in the passages that can state an answer (`passages`).
5. `decision` takes the strongest claims. They must all name the same option, and the text behind them may neither grant
   another option nor take the claim back (`rivals`). The text around them may not contradict them (`contradictions`).
"""

from agent.reading.choice.rules import RULES
from agent.reading.choice.whole_answer import extract_option, read_option

__all__ = ["RULES", "extract_option", "read_option"]
