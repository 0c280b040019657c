import { Kind } from '@meup/protocol'
import { describe, expect, test } from 'vitest'
import { openClient, serveSpace } from './support/served.js'

describe.each(['legacy', 'auto'] as const)('why: %s', (mode) => {
  test('the tool explains an envelope by its id and its seq', async () => {
    const { ana, url } = await serveSpace()
    const { id } = await ana.chat('Is it done?')
    await ana.send({ kind: Kind.chat, id: 'answer', correlationId: id, payload: { message: 'Not yet.' } })
    const client = await openClient(url, mode)
    const found = await client.callTool({ name: 'why', arguments: { ref: 'answer' } })
    expect(found.structuredContent).toMatchObject({
      of: { id: 'answer' },
      steps: [
        { role: 'asked', text: 'Is it done?' },
        { role: 'answered', text: 'Not yet.' },
      ],
      cut: false,
    })
    const { of } = found.structuredContent as { of: { seq: number } }
    const bySeq = await client.callTool({ name: 'why', arguments: { ref: `${of.seq}` } })
    expect(bySeq.structuredContent).toEqual(found.structuredContent)
    const unknown = await client.callTool({ name: 'why', arguments: { ref: 'nothing' } })
    expect(unknown).toMatchObject({ isError: true, _meta: { 'meup/code': 'not_found' } })
  })

  test('the prompt asks for an explanation with the tool', async () => {
    const { url } = await serveSpace()
    const client = await openClient(url, mode)
    const { messages } = await client.getPrompt({ name: 'why', arguments: { ref: '#12' } })
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }])
    expect(JSON.stringify(messages)).toContain('#12')
  })
})
