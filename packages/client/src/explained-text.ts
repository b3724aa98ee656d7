import { amountText, type AmountUnit } from './amounts.ts';

const ID = /\b(?:svc|tok)_[0-9a-z]{26}\b/g;
const AMOUNT = /\b(\d{1,15}) (ms|bytes)\b/g;

/** The ids of services and tokens in the texts of a value, such as an explanation; each once. */
export function idsInTexts(value: unknown): readonly string[] {
  return [...new Set(JSON.stringify(value).match(ID))];
}

/**
 * A value such as an explanation for people: its sentences have the numbers of the API, such as `5000 ms`, and the ids of
 * tokens. Wherever a text has one, `5 s` and the name take its place.
 * @param nameOf the id itself, if the name is not known
 */
export function readableTexts<Value>(value: Value, nameOf: (id: string) => string): Value {
  // Amounts first: a name may look like one.
  const readable = (text: string) =>
    text
      .replaceAll(AMOUNT, (_all, number: string, unit: AmountUnit) =>
        amountText(Number(number), unit),
      )
      .replaceAll(ID, (id) => nameOf(id));
  const replace = (_key: string, one: unknown) => (typeof one === 'string' ? readable(one) : one);
  return JSON.parse(JSON.stringify(value, replace)) as Value;
}
