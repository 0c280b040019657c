import type { RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { Option } from './agent-updates.js'

export const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

/** The options that allow a call once, with distinct names. */
export function toChoices(options: readonly Option[]): readonly Option[] {
  const once = options.filter(({ kind, id }, index) => {
    return kind === 'allow_once' && options.findIndex((each) => each.id === id) === index
  })
  const isUnique = ({ name }: Option): boolean => once.filter((each) => each.name === name).length === 1
  return once.map((option) =>
    isUnique(option) ? option : { ...option, name: `${option.name} (${option.id})` },
  )
}

/** The option to reject a call once; of several, the one that `message` names, because their effects differ. */
export function findRejection(options: readonly Option[], message = ''): Option | undefined {
  const ways = options.filter(({ kind }) => kind === 'reject_once')
  const named = ways.find(({ name }) => name.toLowerCase() === message.trim().toLowerCase())
  return named ?? (ways.length === 1 ? ways[0] : undefined)
}

export const selectOption = (optionId: string): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
})
