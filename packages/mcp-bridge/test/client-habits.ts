/** An unusual behaviour of MCP clients that the specification does not cover (`sends`), and how it is handled (`here`). */
export interface ClientHabit {
  readonly sends: string
  readonly here: string
}

/** Habits of MCP clients, over stdio and HTTP. There is a test for each row. */
export const clientHabits = {
  nulls: {
    sends: '`null` for `params`, `_meta`, `cursor`, `arguments`, `progressToken` or any other member',
    here: 'read as absent; in the arguments of a tool it stays',
  },
  version: { sends: 'no `jsonrpc`, or members that JSON-RPC does not have', here: 'read without them' },
  ids: { sends: '`id` as a text, 0, or beyond 2^53', here: 'the answer has the same' },
  oddIds: { sends: '`id` as a fraction, `true` or an object', here: 'error -32600 that names it' },
  notJson: {
    sends: 'text other than JSON, or broken JSON',
    here: 'error -32700 with `id: null`; over HTTP, status 400',
  },
  noMethod: { sends: 'neither `method`, `result` nor `error`', here: 'error -32600 with its id' },
  parameters: {
    sends: 'parameters that the method does not have, such as `arguments` as a text',
    here: 'error -32602 with its id and the path, such as `/params/arguments`',
  },
  batches: {
    sends: 'several messages in an array',
    here: 'each is answered, even if another one cannot be read',
  },
  lines: { sends: 'a byte order mark, CRLF, blank lines', here: 'left out' },
  long: {
    sends: 'a message of 10 MB; one of more than 10 MiB',
    here: 'read; error -32600, over HTTP with status 413, and the next one is read',
  },
  answers: {
    sends: 'an answer to a form that cannot be read, or an empty one',
    here: 'as if the form was cancelled; the call continues',
  },
  accept: { sends: '`Accept: */*` or none', here: 'gets what it would get by naming both types' },
} as const satisfies Readonly<Record<string, ClientHabit>>
