/**
 * A copy as JSON carries it, frozen through and through: nobody can change a commit behind its hash. Bytes become
 * base64, as in the JSON of the providers that have some. Throws `TypeError` for what JSON cannot say.
 */
export function frozenJson<Value>(value: Value): Value {
  const text = JSON.stringify(value, bytesAsBase64)
  return JSON.parse(text, (_, each: unknown) => Object.freeze(each))
}

/** `value` is what `toJSON` made of it, and the buffers of Node have one. */
function bytesAsBase64(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const original = this[key]
  if (!(original instanceof Uint8Array)) return value
  return btoa(Array.from(original, (byte) => String.fromCharCode(byte)).join(''))
}
