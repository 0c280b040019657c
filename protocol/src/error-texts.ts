type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never

type Detail = string | number | readonly string[]

/** The values that a message contains, by name. */
export type Details = Readonly<Record<string, Detail>>

/** A value for each `{name}` of a text. */
export type DetailsOf<Text extends string> = Readonly<Record<Placeholder<Text>, Detail>>

/**
 * Replaces each `{name}` by its value; the elements of a list are joined with commas. Other braces stay. A flood of envelopes has
 * a refusal for each: a regular expression takes five times as long.
 */
export function fillIn<Text extends string>(text: Text, details: DetailsOf<Text>): string {
  const values: Details = details
  let filled = ''
  let at = 0
  for (let open = text.indexOf('{'); open >= 0; open = text.indexOf('{', open + 1)) {
    const close = text.indexOf('}', open)
    const name = text.slice(open + 1, close)
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    if (value === undefined) continue
    filled += text.slice(at, open) + (typeof value === 'object' ? value.join(', ') : value)
    at = close + 1
  }
  return filled + text.slice(at)
}

/** Creates an error by its code, with the values of its text. */
export type ErrorsOf<Texts, Made, More extends readonly unknown[]> = <Code extends keyof Texts>(
  code: Code,
  details: Details & DetailsOf<Texts[Code] & string>,
  ...more: More
) => Made

export const errorsOf =
  <Texts extends Readonly<Record<string, string>>, Made, More extends readonly unknown[]>(
    texts: Texts,
    create: (code: keyof Texts & string, message: string, details: Details, ...more: More) => Made,
  ): ErrorsOf<Texts, Made, More> =>
  (code, details, ...more) =>
    create(String(code), fillIn(String(texts[code]), details), details, ...more)

/** Adds what to do to a message, as a sentence of its own. A command such as `meup up` keeps its lower case. */
export const addAdvice = (message: string, advice: string): string =>
  [message, advice.replace(/^(?!meup )./, (letter) => letter.toUpperCase())]
    .map((text) => (/[.?]$/.test(text) ? text : `${text}.`))
    .join(' ')
