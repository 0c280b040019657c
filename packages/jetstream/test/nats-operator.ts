import { randomUUID } from 'node:crypto'
import { nkeys } from '@nats-io/transport-node'

type Keys = ReturnType<typeof nkeys.createUser>

/** Signs a token like one that nsc creates; `claims` are added to issuer and subject. */
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

/** Keys and configuration for servers that trust an operator. The operator has one account, which may use JetStream or not. */
export function natsOperator({ jetstream = true } = {}) {
  const [operator, owner, system] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()]
  const limits = { ...account, ...(jetstream && storage) }
  const operatorToken = sign(operator, operator, { nats: { type: 'operator', version: 2 } })
  const encodeAccount = (keys: Keys, limits: object): string =>
    `${keys.getPublicKey()}: ${sign(operator, keys, { nats: { limits, type: 'account', version: 2 } })}`
  return {
    /** Lines for the configuration file of a server. */
    lines: [
      `operator: ${operatorToken}`,
      'resolver: MEMORY',
      `system_account: ${system.getPublicKey()}`,
      `resolver_preload: { ${encodeAccount(owner, limits)}, ${encodeAccount(system, account)} }`,
    ].join('\n'),
    /** The content of a credentials file for a new user, valid until `expires` (Unix time, seconds). */
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
