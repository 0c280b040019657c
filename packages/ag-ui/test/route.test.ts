import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { bearer } from '../../gateway/test/http-client.js'
import { start } from '../../gateway/test/support.js'
import { stage } from './stage.js'

interface Document {
  readonly paths: Record<string, { readonly post: { readonly parameters: readonly { name: string }[] } }>
  readonly components: { readonly schemas: Record<string, object> }
}

const fetchDocument = async (url: string): Promise<Document> =>
  (await (await fetch(`${url}/openapi.json`)).json()) as Document

test('the route is described with those of the gateway', async () => {
  const { url } = await stage()
  const document = await fetchDocument(url)
  const { valid, errors } = await new Validator().validate(document as object as Record<string, unknown>)
  expect([errors ?? [], valid]).toEqual([[], true])
  expect(document.paths['/spaces/{space}/ag-ui']?.post.parameters).toMatchObject([
    { name: 'agent' },
    { name: 'events' },
  ])
  expect(document.components.schemas).toHaveProperty('run')
})

test('its query is read as the others are, and other methods are refused', async () => {
  const { runs } = await stage()
  const ask = async (query: string, method = 'POST') => {
    const response = await fetch(`${runs}${query}`, { method, headers: bearer('ana') })
    return [response.status, response.headers.get('allow')]
  }
  expect(await ask('?agent=no%20name')).toEqual([400, null])
  expect(await ask('?agent=ben&agent=tool')).toEqual([400, null])
  expect(await ask('?nothing=1')).toEqual([400, null])
  expect(await ask('?events=other')).toEqual([400, null])
  expect(await ask('', 'GET')).toEqual([405, 'POST, OPTIONS'])
})

test('a gateway that does not bring the module has no such route', async () => {
  const { url } = await start({ participants: { ana: ['*'] } })
  const headers = bearer('ana')
  expect((await fetch(`${url}/spaces/test/ag-ui`, { method: 'POST', headers })).status).toBe(404)
  expect(Object.keys((await fetchDocument(url)).paths)).not.toContain('/spaces/{space}/ag-ui')
})
