import { expect, test } from 'vitest'
import { tokenFor } from './invite-space.js'
import { RawSocket } from './raw-socket.js'
import { start } from './support.js'
import { invite } from './trust.js'

test('a post whose token is replaced while its body is under way is refused', async () => {
  const { url, connect } = await start({ participants: { root: ['*'] } })
  const root = await connect('root')
  const token = await tokenFor(root, invite('newt', ['chat']))
  const body = JSON.stringify({ id: 'late', kind: 'chat', payload: { message: 'still me' } })
  const headers = [
    `authorization: Bearer ${token}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  const post = new RawSocket(url).ask('POST /spaces/test/envelopes', headers)
  post.write(body.slice(0, 10))
  // Once a later request with the same token is answered, the post has been authenticated.
  const seen = await fetch(`${url}/spaces/test/participants`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(seen.status).toBe(200)
  await tokenFor(root, invite('newt', ['chat']))
  post.write(body.slice(10))
  expect(await post.closed).toMatch(/^HTTP\/1\.1 401 /)
})
