interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

export const event = (data: Event): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
/** Events of a content block in Anthropic's form. */
export const block = (index: number, content_block: object, ...deltas: object[]): string =>
  [
    event({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('')
export const begin = event({
  type: 'message_start',
  message: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [],
    usage: { input_tokens: 5, output_tokens: 1 },
  },
})

/** A complete stream in Anthropic's form. */
export const message = (stop_reason: string, ...blocks: string[]): string =>
  [
    begin,
    ...blocks,
    event({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 7 } }),
    event({ type: 'message_stop' }),
  ].join('')

/** A provider without a socket: sends these responses in order, and records the requests. */
export function wire<Body>(answers: readonly string[]) {
  const bodies: Body[] = []
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(JSON.parse(String(init?.body)))
    return new Response(answers[bodies.length - 1], { headers: { 'content-type': 'text/event-stream' } })
  }
  return { bodies, settings: { apiKey: 'none', fetch } }
}
