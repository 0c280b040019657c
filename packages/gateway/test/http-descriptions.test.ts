import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { Parser } from '@asyncapi/parser'
import { errorCodes, Kind, kindRules } from '@meup/protocol'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { asking, bearer } from './http-client.js'
import { start } from './support.js'

const participants = { alice: ['*'] }
type Json = Record<string, unknown>

/** Creates a one-time code; returns the headers for `POST /links/exchange`. */
async function code(url: string): Promise<Record<string, string>> {
  const response = await fetch(`${url}/spaces/test/links`, { method: 'POST', headers: bearer('alice') })
  return { authorization: `Bearer ${((await response.json()) as { code: string }).code}` }
}

async function describedBy(path: string): Promise<Json> {
  const { url } = await start({ participants })
  const response = await fetch(url + path)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  return (await response.json()) as Json
}

test('GET schema gives the very documents that the protocol is published with', async () => {
  const { url } = await start({ participants })
  const directory = dirname(createRequire(import.meta.url).resolve('@meup/protocol/schema/envelope.json'))
  const files = readdirSync(directory)
  expect(files.length).toBe(Object.keys(kindRules).length + 2)
  for (const file of files) {
    const response = await fetch(`${url}/schema/${file}`)
    expect([file, response.status]).toEqual([file, 200])
    expect(await response.json()).toEqual(JSON.parse(readFileSync(`${directory}/${file}`, 'utf8')))
  }
  for (const file of ['chat', 'nothing.json', '..%2Fpackage.json', '__proto__.json']) {
    const response = await fetch(`${url}/schema/${file}`)
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'not_found' }])
  }
})

describe('GET openapi.json', () => {
  test('is a valid OpenAPI 3.1 document', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(await describedBy('/openapi.json'))
    expect(errors ?? []).toEqual([])
    expect([valid, validator.version]).toEqual([true, '3.1'])
  })

  test('has the routes that there are, with the statuses that they give', async () => {
    const { url, post } = await start({ participants: { alice: ['*', 'space.erase'], bob: [] } })
    await post('alice', { id: 'run', kind: 'reasoning.start' })
    const { body: receipts } = await post('alice', { kind: 'chat', payload: { message: 'x' } })
    const [{ seq }] = receipts as [{ seq: number }]
    const { paths } = (await describedBy('/openapi.json')) as { paths: Record<string, Json> }
    const known: Record<string, string> = { space: 'test', path: 'run', ref: 'run', file: 'chat.json' }
    const needed = {
      '/spaces/{space}/turns': '?thread_id=test/alice',
    } as Record<string, string>
    const posted = {
      '/spaces/{space}/envelopes': { kind: 'chat', payload: { message: 'x' } },
      '/spaces/{space}/audit/erase': { seq, reason: 'no longer needed' },
    } as Record<string, object>
    expect(Object.keys(paths).length).toBeGreaterThan(10)
    for (const [template, operations] of Object.entries(paths)) {
      const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => known[name] ?? '')
      for (const method of ['get', 'post'].filter((name) => name in operations)) {
        const { responses } = operations[method] as { responses: Record<string, unknown> }
        const body = method === 'post' ? JSON.stringify(posted[template]) : null
        const headers = template === '/links/exchange' ? await code(url) : bearer('alice')
        const response = await fetch(url + path + (needed[template] ?? ''), { method, headers, body })
        await response.body?.cancel()
        expect([template, method, Object.keys(responses)]).toEqual([
          template,
          method,
          expect.arrayContaining([`${response.status}`]),
        ])
        expect(response.ok).toBe(true)
      }
    }
  })

  test('says where guests are let in, where a token is needed, and where nothing is', async () => {
    const { url } = await start({ participants, guest: { capabilities: [] } })
    const { paths } = (await describedBy('/openapi.json')) as {
      paths: Record<string, Record<string, { security: object[] }>>
    }
    for (const [template, operations] of Object.entries(paths)) {
      const path = template.replaceAll('{space}', 'test').replaceAll(/\{\w+\}/g, 'x')
      for (const method of ['get', 'post'].filter((name) => name in operations)) {
        const { security = [] } = operations[method] ?? {}
        const isOpen = security.length === 0 || security.some((each) => Object.keys(each).length === 0)
        const response = await fetch(url + path, { method })
        await response.body?.cancel()
        expect([template, method, response.status === 401]).toEqual([template, method, !isOpen])
      }
    }
  })

  test('describes the answers as they are', async () => {
    const { url, post } = await start({ participants })
    await post('alice', { id: 'run', kind: 'reasoning.start' })
    const { components } = (await describedBy('/openapi.json')) as unknown as {
      components: { schemas: Record<string, { required: string[]; properties: Json }> }
    }
    const { json } = asking(url, 'alice')
    for (const [name, path] of [
      ['history', '/envelopes?limit=1'],
      ['participants', '/participants'],
      ['contexts', '/contexts'],
      ['audit', '/audit'],
      ['search', '/search?text=x'],
      ['turns', '/turns?thread_id=test/alice'],
      ['why', '/why/run'],
      ['verification', '/audit/verify'],
    ] as const) {
      const { required = [], properties = {} } = components.schemas[name] ?? {}
      const fields = Object.keys((await json(path)) as Json)
      expect(fields).toEqual(expect.arrayContaining(required))
      expect(Object.keys(properties)).toEqual(expect.arrayContaining(fields))
    }
  })

  test('tells every error code, and what each parameter takes', async () => {
    const { paths } = (await describedBy('/openapi.json')) as {
      paths: Record<string, Record<'get' | 'post', { responses: object; parameters: { name: string }[] }>>
    }
    const { get, post } = paths['/spaces/{space}/envelopes'] ?? {}
    const text = JSON.stringify(post?.responses)
    expect(errorCodes.filter((code) => !text.includes(`\`${code}\``))).toEqual([])
    expect(get?.parameters.map(({ name }) => name)).toEqual(
      'after before limit order kind from context correlationId reasoning'.split(' '),
    )
  })
})

describe('GET asyncapi.json', () => {
  test('is a valid AsyncAPI 3 document', async () => {
    const { document, diagnostics } = await new Parser().parse(
      JSON.stringify(await describedBy('/asyncapi.json')),
    )
    const [error, warning] = [0, 1]
    expect(diagnostics.filter(({ severity }) => severity === error || severity === warning)).toEqual([])
    expect(document?.version()).toBe('3.0.0')
  })

  test('has every kind, the way it goes', async () => {
    const { operations } = (await describedBy('/asyncapi.json')) as {
      operations: Record<'submit' | 'deliver', { messages: { $ref: string }[] }>
    }
    const kindsOf = (way: 'submit' | 'deliver') =>
      operations[way].messages.map(({ $ref }) => $ref.split(`/${way}.`)[1]).filter((name) => name !== 'other')
    const rules = Object.entries(kindRules)
    expect(kindsOf('submit')).toEqual(rules.filter(([, { gateway }]) => !gateway).map(([kind]) => kind))
    expect(kindsOf('deliver')).toEqual(Object.values(Kind).filter((kind) => kind !== 'observe.subscribe'))
  })
})
