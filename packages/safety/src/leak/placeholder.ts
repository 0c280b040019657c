/** Words by which writers of examples say that a value is none. */
const words =
  /example|sample|dummy|placeholder|change[-_]?(?:me|it|this)|redacted|removed|hidden|insert|replace|your[-_ ]|my[-_](?:secret|password|token|key)|foobar|to-?do\b/i
const named = /^(?:none|null|nil|undefined|true|false|empty|unset|optional|required|string|text|bytes)$/i
/** `<key>`, `${KEY}`, `$KEY`, `$key`, `$(key)`, `{{ key }}`, `%KEY%`, `%s`, `[key]`. */
const template = /^(?:<|\[|\{|\$[{(]|\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)$|%\w+%$|%[a-z]$)/
/** `process.env.KEY`, `config.key`, `getKey()`: where a value comes from; long ones with digits are tokens. */
const reference =
  /^(?!(?=.{20})(?:.*\d){2}|.*(?=\w{16})\w*\d|.*\d{3})(?:[a-z_]\w*(?:\.|->|::))+[a-z_]+(?:[([].*)?$|^[a-z_]\w*\(.*$/is
/** `xxxx`, `****`, `12345678` stand for what is left out. */
const filler = /^(.)\1*$|^[x*.•#_-]+$|^(?:12345678?9?0?|abcdef\w{0,2}|\.\.\.)$/i

/** Whether a value stands for one that is not said. */
export const isPlaceholder = (value: string): boolean =>
  words.test(value) ||
  named.test(value) ||
  template.test(value) ||
  reference.test(value) ||
  filler.test(value)
