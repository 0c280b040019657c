import type { Client, Sent } from './client.js'
import { type Running, type StartOptions, start } from './support.js'

/** Host may invite, with at most its own capabilities; mod may kick. */
export const participants = {
  root: ['*'],
  host: ['space.invite', 'capability.grant', 'work.*', 'chat'],
  mod: ['space.kick', 'space.invite', 'chat'],
  ann: ['chat', 'work.dig'],
}

/** Starts a gateway, and connects root and host. */
export async function open(options: Partial<StartOptions> = {}) {
  const running = await start({ participants, ...options })
  return { ...running, root: await running.connect('root'), host: await running.connect('host') }
}

/** Sends an invitation, and returns its token. */
export async function tokenFor(inviter: Client, sent: Sent): Promise<string> {
  const { id } = await inviter.accepted(sent)
  const ack = await inviter.next(
    ({ kind, correlationId }) => kind === 'space.invite-ack' && correlationId === id,
  )
  return ack.payload.token as string
}

/** The HTTP status with which a token is refused. */
export const statusOf = async ({ connectRequest }: Running, token: string, space = 'test'): Promise<number> =>
  (await connectRequest({ token, space })).status
