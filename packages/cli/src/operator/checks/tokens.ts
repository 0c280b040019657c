import type { Config } from '../../config/config.js'
import { readTokenFile } from '../../config/token-file.js'
import { type TokenEntry, tokenEntries } from '../token-entries.js'
import { type Check, fail, pass } from './check.js'

/** Whether everybody has a token that can be used. */
export function tokenChecks(config: Config, isRunning: boolean): Check[] {
  const entries = tokenEntries(config, {})
  const unusable = entries.filter(({ state }) => state === 'unusable')
  const missing = entries.filter(({ state }) => state === 'missing')
  const problems = [
    ...unusable.flatMap(({ participant, warnings }) =>
      warnings.map((warning) => fail('tokens', warning, `meup token rotate ${participant} makes a good one`)),
    ),
    ...sharedIn(entries),
    ...(isRunning ? missing : []).map(({ participant, file }) =>
      fail('tokens', `${participant} has none in ${file}`, `meup token create ${participant} makes one`),
    ),
  ]
  if (problems.length > 0) return problems
  const count = (state: TokenEntry['state']): number => entries.filter((each) => each.state === state).length
  const rest = [
    ...(count('missing') > 0 ? [`${count('missing')} are made at the start`] : []),
    ...(count('revoked') > 0 ? [`${count('revoked')} revoked`] : []),
  ]
  return [
    pass('tokens', [`${count('valid')} of ${entries.length} participants have one`, ...rest].join(', ')),
  ]
}

function sharedIn(entries: readonly TokenEntry[]): Check[] {
  const owners = new Map<string, TokenEntry>()
  return entries.flatMap((entry) => {
    const read = readTokenFile(entry.file)
    if (read.state !== 'valid') return []
    const key = `${entry.space} ${read.token}`
    const owner = owners.get(key)
    owners.set(key, entry)
    if (owner === undefined) return []
    const detail = `${owner.participant} and ${entry.participant} have the same one`
    return [fail('tokens', detail, `meup token rotate ${entry.participant}`)]
  })
}
