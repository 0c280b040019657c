/** An unusual behaviour of MCP servers that the specification does not cover. */
export interface Habit {
  /** Description of the behaviour. */
  readonly sends: string
  /** How the bridge handles it. */
  readonly here: string
}

/** Habits of MCP servers over any transport. There is a test for each row in `server-habits.test.ts`. */
export const commandHabits = {
  'ids as text': {
    sends: 'ids, progress tokens and cancelled ids as text: `"1000"` for `1000`',
    here: 'They are taken for the number. Text with spaces is not.',
  },
  'logs as JSON': {
    sends: 'log lines as JSON on stdout, with an `id`, `result` or `error` in them',
    here: 'Without `jsonrpc`, an object with other members is a log line: it is skipped and shown to the operator.',
  },
  'text on stdout': {
    sends: 'banners and log lines on stdout',
    here: 'They are skipped and shown to the operator.',
  },
  'a byte order mark': { sends: 'a byte order mark, or UTF-16', here: 'It is read as text.' },
  'null in messages': {
    sends: '`null` for absent members: `error`, `params`, `instructions`, `_meta`, any capability',
    here: 'The member counts as absent.',
  },
  'null in tools': {
    sends: '`null` for the title, description, annotations or a schema of a tool',
    here: 'The member counts as absent; the input schema as `{ "type": "object" }`. `null` within schemas stays.',
  },
  'null in results': {
    sends: '`null` for `content`, `isError`, `_meta` or `structuredContent`',
    here: 'The log has it as it was sent; clients of `meup mcp serve`, models and `meup call` get what is there.',
  },
  'no jsonrpc': { sends: 'messages without `jsonrpc`', here: 'They are read as JSON-RPC 2.0.' },
  'neither result nor error': {
    sends: 'an answer with neither a result nor an error',
    here: 'The call fails with that sentence (-32603).',
  },
  'a text as result': { sends: 'a text where a result is an object', here: 'It is the text of the result.' },
  'a text as error': { sends: 'a text where an error is an object', here: 'It is the message of the error.' },
  'content without blocks': {
    sends: 'a text, or one block, where `content` is a list of blocks; a block with a text and no type',
    here: 'It is read as a block of text.',
  },
  'an empty error with a result': {
    sends: '`"error": false`, `""` or `{}` with a result',
    here: 'The result counts.',
  },
  batches: { sends: 'several messages in an array', here: 'Each is read on its own.' },
  'a cursor that never ends': {
    sends: '`nextCursor` as `null` or `""`, or the same one again',
    here: 'The list ends there.',
  },
  'a tool twice': { sends: 'a tool again, on the same page or another', here: 'The first one counts.' },
  'a late list': {
    sends: 'the first list after more than 5 seconds, such as after a login',
    here: 'It has no tools until then. It is asked again when it sends something, and at the next question.',
  },
  'changes all the time': {
    sends: '`list_changed` at every call',
    here: 'It is asked for its list once a second at most; the last list counts.',
  },
  'many large tools': {
    sends: 'hundreds of tools with large schemas',
    here: 'Up to 1,000 tools and 8 MiB of them are read. A model gets 128 tools, and 256 KiB of those of one server.',
  },
  'a list that is too large': {
    sends: 'a list of more than `maxResultBytes` on one page',
    here: 'It has no tools. The error names the server, the size, the limit, and what helps.',
  },
  'half a character': {
    sends: 'half of an emoji in a result, or invalid UTF-8',
    here: 'It becomes U+FFFD, and `_meta["meup/changed"]` of the result says so.',
  },
  'a result that is too large': {
    sends: 'a result of more than `maxResultBytes`',
    here: 'The caller gets an error with the size, the limit and its beginning. It says that the tool has run.',
  },
  'a result that is too deep': {
    sends: 'a result that is nested more than 32 deep',
    here: 'The caller gets an error, which says that the tool has run.',
  },
  'a message that is too large': {
    sends: 'a message of more than 10 MiB',
    here: 'The call that it answers fails with both sizes; no other does.',
  },
  'structured content alone': {
    sends: '`structuredContent` without a text',
    here: '`meup call` and models get it as JSON.',
  },
  'long calls': {
    sends: 'progress for longer than a caller waits',
    here: 'Each report restarts the time, for callers that take progress and for `limits.callMs`.',
  },
  'a large id': {
    sends: 'a request with an `id` beyond 2^53, such as a random one of 64 bits',
    here: 'The answer has the same digits.',
  },
} satisfies Record<string, Habit>

/** Habits of MCP servers over HTTP. There is a test for each row in `http-habits.test.ts`. */
export const addressHabits = {
  'a lost session': {
    sends: 'HTTP 404, 410 or 400, or an error that speaks of the session or of initialization',
    here: 'A new session is begun, and the call that was refused is sent again, once. 401 and 403 do not end a session.',
  },
  'a cut stream': {
    sends: 'a stream of a reply that ends before its answer',
    here: 'It is resumed after the last event. Cut five times in a row, the call fails.',
  },
  'a redirect': {
    sends: 'a redirect with HTTP 307 or 308 within its origin',
    here: 'It is followed. Any other redirect is refused with the address that it names.',
  },
  'an answer to a notification': {
    sends: 'HTTP 200 with nothing, `null`, `{}` or a text for a notification, or 204',
    here: 'It is taken.',
  },
} satisfies Record<string, Habit>

/** All habits, for the table in `docs/compatibility.md`. */
export const serverHabits = { ...commandHabits, ...addressHabits }
