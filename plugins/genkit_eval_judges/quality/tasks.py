"""What an answer does with a task, in weighted parts: `quality/relevance`, `/summarization`, `/translation`."""

from __future__ import annotations

from genkit_eval_judges.quality.parts import Composite, PartExample, QualityPart

__all__ = ["COMPOSITES"]

RELEVANCE = Composite(
    name="relevance",
    title="Relevance",
    what="how relevant an answer is to a request",
    intent="The answer is the one that this request called for.",
    criterion="""\
First say to yourself what the request wants: the question behind the words, and the conditions that come with it. \
If there is a conversation, the request is its last part, and what was agreed before goes on holding. Style and \
length count only where the request speaks of them.""",
    parts=(
        QualityPart(
            name="accuracy",
            weight=0.3,
            asks="is what it says on the matter right, as far as the request, the documents and common knowledge show?",
            low="its main statement is wrong",
            middle="right in the main, with an error that matters to somebody who acts on it",
            high="nothing in it is wrong",
        ),
        QualityPart(
            name="completeness",
            weight=0.3,
            asks="is all that was asked for dealt with?",
            low="nothing that was asked for is there",
            middle="half of it is",
            high="nothing would have to be asked again",
        ),
        QualityPart(
            name="adherence",
            weight=0.2,
            asks="does it stay on the matter, and keep to the form, length, language and limits of the request?",
            low="it is about something else, or ignores the conditions",
            middle="it wanders off for a while, or breaks one of the conditions",
            high="all of it serves the request, in the way that was wished for",
        ),
        QualityPart(
            name="consistency",
            weight=0.2,
            asks="does it agree with what the request presupposes, with what was said before, and with itself?",
            low="it goes against the facts of the request, or its parts exclude each other",
            middle="it overlooks one fact that the request gave, or wavers on a side issue",
            high="it builds on what was said and never clashes with it",
        ),
    ),
    examples=(
        PartExample(
            "Request: In one sentence: I'm vegan, what can I put on bread, and is honey fine?\nAnswer: Hummus and "
            "avocado are good on bread. So is cream cheese. Bread should be kept in a dry place.",
            {
                "accuracy": ("Hummus and avocado are indeed spreads.", 0.9),
                "completeness": ("The question about honey, one of two, is left open.", 0.5),
                "adherence": ("Three sentences in place of one, and storing bread was not asked for.", 0.3),
                "consistency": ("Cream cheese is no food for a vegan, which the request says its writer is.", 0.2),
            },
        ),
        PartExample(
            "Request: How far is the moon?\nAnswer: On average 384,400 km.",
            {
                "accuracy": ("384,400 km is the mean distance.", 1.0),
                "completeness": ("The distance is all that was asked.", 1.0),
                "adherence": ("It says nothing else.", 1.0),
                "consistency": ("It fits the question, and does not clash with anything.", 1.0),
            },
        ),
    ),
    shows=("turns", "context"),
    known_as=("Relevance",),
)

SUMMARIZATION = Composite(
    name="summarization",
    title="Summarization quality",
    what="a summary",
    intent="The summary gives what matters in the source, rightly, briefly and so that one understands it alone.",
    criterion="""\
The answer is the summary. Its source is in the documents; without any, it is the text in the request. First note \
for yourself what somebody who cannot read the source would have to be told: its point, what it rests on, its \
result, its limits. Judge by the source only: what is true in the world and not in the source has no place in the \
summary. A length or form that the request wishes for is the measure of conciseness.""",
    parts=(
        QualityPart(
            name="precision",
            weight=0.35,
            asks="is all of it in the source, with names, numbers, who said what and how sure it is unchanged?",
            low="it says what the source does not, or its opposite, in a main point",
            middle="one detail is wrong or sharpened (a 'may' that became an 'is')",
            high="every sentence can be found in the source",
        ),
        QualityPart(
            name="completeness",
            weight=0.35,
            asks="are the things there that a reader would have to be told?",
            low="the point of the source is missing",
            middle="the point is there, half of what it rests on is not",
            high="nothing is missing that one would be angry not to have been told",
        ),
        QualityPart(
            name="conciseness",
            weight=0.15,
            asks="is it as short as it can be with that content?",
            low="nearly as long as the source, or mostly details and phrases",
            middle="a third could go",
            high="no sentence could go",
        ),
        QualityPart(
            name="clarity",
            weight=0.15,
            asks="does somebody who does not know the source understand it?",
            low="it is a heap of fragments, or lives on words that only the source explains",
            middle="understood, with a jump or an unexplained name",
            high="it can stand by itself",
        ),
    ),
    examples=(
        PartExample(
            "Documents: In a trial with 40 patients, the drug shortened colds from 7 to 6 days. The authors, paid by "
            "the maker, call for a larger trial.\nAnswer: A study proves that the drug shortens colds by a day.",
            {
                "precision": (
                    '"Proves" turns a small trial, after which a larger one is called for, into a fact.',
                    0.4,
                ),
                "completeness": ("The effect is there; the 40 patients and who paid are not.", 0.4),
                "conciseness": ("One sentence without a spare word.", 1.0),
                "clarity": ("It is understood without the source.", 1.0),
            },
        ),
        PartExample(
            "Request: Summarise: The bridge closes on 3 May for six weeks; a ferry runs instead, free of charge.\n"
            "Answer: From 3 May the bridge is closed for six weeks, and a free ferry replaces it.",
            {
                "precision": ("Date, time and ferry are as in the source.", 1.0),
                "completeness": ("Closing, length and replacement are there.", 1.0),
                "conciseness": ("The source is short, and the summary hardly shorter, yet without waste.", 0.8),
                "clarity": ("It can be read by itself.", 1.0),
            },
        ),
    ),
    needs=("response",),
    any_of=("context", "request"),
    known_as=("Summarization Quality",),
    aliases=("akka/SummarizationQuality",),
)

TRANSLATION = Composite(
    name="translation",
    title="Translation quality",
    what="a translation",
    intent="Readers of the other language get the same text: all of it, in good language, fit for where they live.",
    criterion="""\
The answer is the translation; the text to be translated, and the language to translate into, are in the request. \
Terms that the documents prescribe are binding. A reference is one good translation among many: other words for the \
same are as good. Free translation is no fault where it says the same with the same effect. If the answer is in the \
wrong language or is no translation, every part is near 0.""",
    parts=(
        QualityPart(
            name="accuracy",
            weight=0.4,
            asks="does each sentence say what the source says: sense, numbers, names, negations, tone, certainty?",
            low="the sense of main sentences is another one",
            middle="one sentence has another sense, or several are blurred",
            high="nothing is distorted",
        ),
        QualityPart(
            name="completeness",
            weight=0.2,
            asks="is everything there and nothing added, headings and marks of layout too?",
            low="large parts are missing, or freely added",
            middle="a sentence, or several details, left out or added",
            high="nothing is missing and nothing added",
        ),
        QualityPart(
            name="fluency",
            weight=0.25,
            asks="does it read like a text written in that language: grammar, spelling, idiom, order of words?",
            low="word for word, and hardly readable",
            middle="understandable, but one hears the source language in it",
            high="nobody would notice that it is a translation",
        ),
        QualityPart(
            name="culture",
            weight=0.15,
            asks="are forms of address, idioms, measures, dates and jokes carried over so that they work there?",
            low="the reader is offended or misled by what was taken over as it stood",
            middle="one idiom or form of address sounds odd",
            high="all of it works as it did at home; null if the text holds nothing of the kind",
        ),
    ),
    examples=(
        PartExample(
            "Request: Into English: Sehr geehrter Herr Dr. Moll, ich drücke Ihnen die Daumen, auch wenn der Termin am "
            "3.5. nicht klappt.\nAnswer: Dear Dr Moll, I press you the thumbs, even if the date on 3/5 works.",
            {
                "accuracy": ('"Nicht klappt" became "works": the negation is lost.', 0.3),
                "completeness": ("Both halves are there.", 0.9),
                "fluency": ('"I press you the thumbs" is no English.', 0.3),
                "culture": ('The idiom was taken over word for word, and "3/5" is 5 March to an American.', 0.2),
            },
        ),
        PartExample(
            "Request: Translate to French: The pump stops at 80 °C.\nAnswer: La pompe s'arrête à 80 °C.",
            {
                "accuracy": ("Pump, stopping and temperature are the same.", 1.0),
                "completeness": ("The one sentence is whole.", 1.0),
                "fluency": ("It is plain technical French.", 1.0),
                "culture": ("A sentence of a manual, with nothing to be carried over.", None),
            },
        ),
    ),
    shows=("context", "reference"),
    known_as=("Translation Quality",),
)

COMPOSITES = (RELEVANCE, SUMMARIZATION, TRANSLATION)
