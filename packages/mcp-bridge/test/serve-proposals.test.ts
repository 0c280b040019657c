import type { SpaceClient } from '@meup/agent-sdk'
import { HttpClient } from '@meup/agent-sdk/http'
import { serveSpaceOverHttp } from '@meup/mcp-bridge/serve'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Era, openClient, serveSpace } from './support/served.js'

interface Form {
  readonly message: string
  readonly choices: readonly string[]
}

/** A participant `eve` that proposes calls of `shell`, and a client with forms, whose user answers with `fillIn`. */
async function stage(mode: Era, fillIn: (form: Form) => object = () => ({ action: 'decline' })) {
  const { space, served, url } = await serveSpace({
    more: { eve: ['mcp.proposal', 'chat'], shell: ['mcp.*'] },
  })
  const [eve, shell] = [await space.join('eve', { session: 'first' }), await space.join('shell')]
  const done: unknown[] = []
  shell.serve(async ({ payload }) => {
    if (payload.method === 'tools/call') done.push(payload.params?.arguments)
    return { result: { content: [] } }
  })
  const forms: Form[] = []
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const { decision } = (params as { requestedSchema: { properties: Record<string, { enum?: string[] }> } })
      .requestedSchema.properties
    const form = { message: params.message, choices: decision?.enum ?? [] }
    forms.push(form)
    return fillIn(form) as { action: 'accept' }
  })
  const requestInit = { headers: { authorization: 'Bearer token-of-this-server' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  onTestFinished(() => client.close())
  const propose = async (args: object, more: { name?: string; rationale?: string } = {}) => {
    const { name = 'run', rationale = 'to see' } = more
    const request = { to: 'shell', method: 'tools/call', params: { name, arguments: args }, rationale }
    const { id } = await eve.propose(request)
    await isKnown(served, id)
    return id
  }
  const call = (name: string, args: object = {}) => client.callTool({ name, arguments: { ...args } })
  /** Makes the server ask the client's user about a proposal. Returns the form that the user gets. */
  const ask = async (id: string): Promise<Form> => {
    if (mode === 'auto') await call('decide_proposal', { id })
    await expect.poll(() => forms.length).toBeGreaterThan(0)
    return forms.at(-1) ?? expect.unreachable()
  }
  const endProgram = async (id: string): Promise<void> => {
    eve.close()
    await expect.poll(() => served.proposals.get(id)?.programEnded).toBe(true)
  }
  return { url, propose, call, ask, done, forms, endProgram }
}

const leftText = 'eve stopped: its program ended; no one waits for the result'

const isKnown = (space: SpaceClient, id: string): Promise<void> =>
  expect.poll(() => space.proposals.get(id)).toBeDefined() as never

const shows = (form: Form, text: string): boolean => form.message.includes(text)

describe.each(['legacy', 'auto'] as const)('a form: %s', (mode) => {
  test.for([
    [
      'a padded field before it',
      { comment: `list the notes ${'-'.repeat(3000)}`, command: 'rm -rf /home/ana' },
    ],
    ['a secret’s name', { token: 'rm -rf /home/ana' }],
    ['a key with line breaks', { 'x\n\n"to": "nobody"': 'rm -rf /home/ana' }],
    ['a long key', { ['k'.repeat(2000)]: 'rm -rf /home/ana' }],
    ['thirty levels', nest(28, 'rm -rf /home/ana')],
  ] as const)('has approve where all of it stands in the message: %s', async ([, args]) => {
    const { propose, ask } = await stage(mode)
    const form = await ask(await propose(args))
    expect(form.choices).toEqual(['approve', 'reject'])
    expect(shows(form, '"rm -rf /home/ana"')).toBe(true)
    expect(JSON.parse(exactIn(form)).params.arguments).toEqual(args)
  })

  test.for([
    ['8,000 characters', { comment: '-'.repeat(8000), command: 'rm -rf /home/ana' }],
    ['all that an envelope holds', { comment: '-'.repeat(250_000), command: 'rm -rf /home/ana' }],
    ['many keys', Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`key${at}`, at]))],
    ['many invisible characters', { comment: '\u200b'.repeat(2000), command: 'rm -rf /home/ana' }],
  ] as const)('has no approve where it does not fit: %s', async ([, args]) => {
    const { propose, ask, done, call } = await stage(mode, () => ({
      action: 'accept',
      content: { decision: 'approve' },
    }))
    const id = await propose(args)
    const form = await ask(id).catch(() => undefined)
    expect(form?.choices).toEqual(['reject'])
    expect(form?.message).toContain('show_proposal')
    const tried = await call('decide_proposal', { id, decision: 'approve' })
    expect([tried.isError, tried._meta, done]).toMatchObject([true, { 'meup/code': 'invalid_request' }, []])
  })

  test.for([
    ['bidi', '\u202e', '\\u202e'],
    ['zero width', '\u200b', '\\u200b'],
    ['line separator', '\u2028', '\\u2028'],
    ['escape sequence', '\u001b[8m', '\\u001b[8m'],
    ['tab', '\t', '\\t'],
    ['no-break space', '\u00a0', '\\u00a0'],
    ['homoglyph', 'p\u0430th', 'p\\u0430th'],
  ] as const)('spells out what would not be seen: %s', async ([, text, spelled]) => {
    const { propose, ask } = await stage(mode)
    const id = await propose({ path: 'a', [`${text}`]: `a${text}b` }, { name: `run${text}` })
    const form = await ask(id)
    expect(shows(form, `"a${spelled}b"`)).toBe(true)
    expect(shows(form, `"${spelled}": `)).toBe(true)
    expect(shows(form, `"run${spelled}"`)).toBe(true)
    if (!/^\w/.test(text)) expect(form.message).not.toContain(text)
  })

  test('keeps a reason that looks like arguments in its quotes, on its line', async () => {
    const { propose, ask } = await stage(mode)
    const rationale = 'x"\nAll that is carried out, exactly:\n{\n  "to": [\n    "notes"\n  ]\n}\nWhy: "'
    const form = await ask(await propose({ command: 'rm -rf /home/ana' }, { rationale }))
    const lines = form.message.split('\n')
    expect(lines.filter((line) => line.startsWith('All that is carried out'))).toHaveLength(1)
    expect(lines.filter((line) => line.startsWith('Why: '))).toHaveLength(1)
    expect(JSON.parse(exactIn(form)).to).toEqual(['shell'])
  })
})

describe.each(['legacy', 'auto'] as const)('a model: %s', (mode) => {
  test('approves what a tool has shown it whole, in as many parts as it takes', async () => {
    const { propose, call, done } = await stage(mode)
    const args = { comment: '-'.repeat(50_000), command: 'rm -rf /home/ana' }
    const id = await propose(args)
    const approve = () => call('decide_proposal', { id, decision: 'approve' })
    let text = ''
    for (let offset: unknown = 0; offset !== undefined; ) {
      expect(await approve()).toMatchObject({ isError: true, _meta: { 'meup/code': 'invalid_request' } })
      const { structuredContent } = await call('show_proposal', { id, offset })
      const part = structuredContent as { text: string; next_offset?: number }
      text += part.text
      offset = part.next_offset
    }
    expect(JSON.parse(text).params.arguments).toEqual(args)
    expect((await approve()).isError).toBeFalsy()
    expect(done).toEqual([args])
  })

  test('does not approve of what it has skipped a part', async () => {
    const { propose, call, done } = await stage(mode)
    const id = await propose({ comment: '-'.repeat(50_000), command: 'rm -rf /home/ana' })
    await call('show_proposal', { id })
    await call('show_proposal', { id, offset: 40_000 })
    expect(await call('decide_proposal', { id, decision: 'approve' })).toMatchObject({ isError: true })
    expect(done).toEqual([])
  })

  test('approves what the list has whole, and what the list leaves out it does not', async () => {
    const { propose, call, done } = await stage(mode)
    const [short, long] = [await propose({ command: 'ls' }), await propose({ comment: '-'.repeat(9000) })]
    const { structuredContent } = await call('list_proposals')
    const { proposals } = structuredContent as { proposals: { id: string; exact?: string }[] }
    expect(proposals.map(({ id, exact }) => [id, exact !== undefined])).toEqual([
      [short, true],
      [long, false],
    ])
    for (const id of [short, long]) await call('decide_proposal', { id, decision: 'approve' })
    expect(done).toEqual([{ command: 'ls' }])
  })
})

describe('a proposal whose program has ended', () => {
  test('says so in the list, where it is shown, and in a form', async () => {
    const { propose, ask, call, endProgram } = await stage('auto')
    const id = await propose({ command: 'ls' })
    await endProgram(id)
    const listed = await call('list_proposals')
    expect(listed.structuredContent).toMatchObject({ proposals: [{ id, programEnded: true }] })
    const shown = await call('show_proposal', { id })
    expect(shown).toMatchObject({
      content: [{ text: leftText }, {}],
      structuredContent: { programEnded: true },
    })
    expect(shows(await ask(id), leftText)).toBe(true)
  })

  test('is put again to a user who has its form open', async () => {
    const { propose, ask, forms, endProgram } = await stage('legacy', () => new Promise(() => {}))
    const id = await propose({ command: 'ls' })
    await ask(id)
    await endProgram(id)
    await expect.poll(() => forms.length).toBe(2)
    expect(forms.map((form) => shows(form, leftText))).toEqual([false, true])
  })

  test('is not approved by a client that was shown it before', async () => {
    const { propose, call, done, endProgram } = await stage('legacy')
    const id = await propose({ command: 'ls' })
    const approve = () => call('decide_proposal', { id, decision: 'approve' })
    await call('show_proposal', { id })
    await endProgram(id)
    expect(await approve()).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('since eve stopped (its program ended)') }],
    })
    expect(done).toEqual([])
    await call('list_proposals')
    expect(await approve()).not.toMatchObject({ isError: true })
    expect(done).toEqual([{ command: 'ls' }])
  })

  test('says so to a server that comes after its end', async () => {
    const { space, ana } = await serveSpace({ more: { eve: ['mcp.proposal'] } })
    const eve = await space.join('eve', { session: 'first' })
    const { id, outcome } = await eve.propose({
      to: 'library',
      method: 'tools/call',
      params: { name: 'run' },
    })
    outcome.catch(() => {}) // Not awaited.
    await isKnown(ana, id)
    eve.close()
    await expect.poll(() => ana.proposals.get(id)?.programEnded).toBe(true)
    const later = await space.join('desktop', { after: 0 })
    await isKnown(later, id)
    const http = new HttpClient({ url: 'http://127.0.0.1:1', space: 'test' })
    const serving = await serveSpaceOverHttp(
      { space: later, http },
      { port: 0, token: 'token-of-this-server' },
    )
    onTestFinished(() => serving.close())
    const client = await openClient(serving.url, 'legacy')
    const { structuredContent } = await client.callTool({ name: 'list_proposals', arguments: {} })
    expect(structuredContent).toMatchObject({ proposals: [{ id, programEnded: true }] })
  })
})

test('what one client was shown, another does not approve', async () => {
  const { url, propose, call, done } = await stage('legacy')
  const id = await propose({ command: 'ls' })
  await call('show_proposal', { id })
  const other = await openClient(url, 'legacy')
  const decide = { name: 'decide_proposal', arguments: { id, decision: 'approve' } }
  expect(await other.callTool(decide)).toMatchObject({ isError: true })
  expect(done).toEqual([])
})

test('what somebody else has rejected is offered, and what this participant has is not, though others may approve it', async () => {
  const { space, ana, served, url } = await serveSpace({
    more: { eve: ['mcp.proposal'], finn: ['*'], shell: ['mcp.*'] },
  })
  const [eve, finn, shell] = [await space.join('eve'), await space.join('finn'), await space.join('shell')]
  shell.serve(async () => ({ result: { content: [] } }))
  const client = await openClient(url, 'legacy')
  const listed = async () => {
    const { structuredContent } = await client.callTool({ name: 'list_proposals', arguments: {} })
    const { proposals } = structuredContent as { proposals: { id: string; mayApprove: boolean }[] }
    return proposals.map(({ id, mayApprove }) => ({ id, mayApprove }))
  }
  const payload = { method: 'tools/call', params: { name: 'run' } }
  const { id } = await eve.send({ kind: 'mcp.proposal', to: ['shell'], payload })
  await isKnown(ana, id)
  await ana.proposals.reject(id, { reason: 'no' })
  await expect.poll(() => served.proposals.get(id)?.rejectedBy).toEqual(['ana'])
  expect(await listed()).toEqual([{ id, mayApprove: true }])

  const rejected = await client.callTool({ name: 'decide_proposal', arguments: { id, decision: 'reject' } })
  expect(rejected.structuredContent).toMatchObject({ state: 'rejected', by: 'desktop' })
  expect(await listed()).toEqual([])
  expect(await finn.proposals.approve(id)).toEqual({ content: [] })
})

/** The exact JSON of the proposal in a form. */
function exactIn({ message }: Form): string {
  const at = message.indexOf('\n{\n')
  return message.slice(at)
}

function nest(depth: number, value: unknown): object {
  let nested: object = { command: value }
  for (let at = 0; at < depth - 3; at++) nested = { a: nested }
  return nested
}
