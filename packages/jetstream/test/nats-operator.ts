import { randomUUID } from 'node:crypto'
import { nkeys } from '@nats-io/transport-node'

type Keys = ReturnType<typeof nkeys.createUser>

/** A token as nsc creates it; `claims` in addition to issuer and subject. */
function sign(issuer: Keys, subject: Keys, claims: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const body = {
    jti: randomUUID(),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: 'test',
    ...claims,
  }
  const text = `${part({ typ: 'JWT', alg: 'ed25519-nkey' })}.${part(body)}`
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString('base64url')}`
}

const unlimited = { subs: -1, data: -1, payload: -1 }
const account = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 }
const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 }

/** Servers that trust an operator, with one account, which may use JetStream or not. */
export function natsOperator({ jetstream = true } = {}) {
  const [operator, owner, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()]
  const limits = { ...account, ...(jetstream && storage) }
  const operatorToken = sign(operator, operator, { nats: { type: 'operator', version: 2 } })
  const encodeAccount = (keys: Keys, limits: object): string =>
    `${keys.getPublicKey()}: ${sign(operator, keys, { nats: { limits, type: 'account', version: 2 } })}`
  return {
    /** Lines for the configuration of a server. */
    lines: [
      `operator: ${operatorToken}`,
      'resolver: MEMORY',
      `system_account: ${system.getPublicKey()}`,
      `resolver_preload: { ${encodeAccount(owner, limits)}, ${encodeAccount(system, account)} }`,
    ].join('\n'),
    /** A file of credentials for a new user, good until `expires` (Unix time, seconds). */
    credentials({ expires }: { expires?: number } = {}): string {
      const user = nkeys.createUser()
      const nats = { pub: {}, sub: {}, ...unlimited, type: 'user', version: 2 }
      const token = sign(owner, user, { nats, ...(expires !== undefined && { exp: expires }) })
      const seed = Buffer.from(user.getSeed()).toString()
      return [
        ...['-----BEGIN NATS USER JWT-----', token, '------END NATS USER JWT------', ''],
        ...['-----BEGIN USER NKEY SEED-----', seed, '------END USER NKEY SEED------', ''],
      ].join('\n')
    },
  }
}
