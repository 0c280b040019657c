import { join } from 'node:path'
import { capabilityText } from '@meup/folds'
import type { Capability } from '@meup/protocol'
import { readConfig } from '../config/load.js'
import { locate } from '../config/yaml-source.js'
import { readGatewayFile } from '../lib/running-gateway.js'

/**
 * Line of this folder's space.yaml that gives a participant a capability. `undefined` if the gateway at `url` is not this
 * folder's, or the file no longer has it.
 */
export function findCapabilityLine(
  { url, space }: { readonly url: string; readonly space: string },
  participant: string,
  capability: string,
): number | undefined {
  const directory = process.cwd()
  if (readGatewayFile(directory)?.url !== url) return undefined
  try {
    const { config, source } = readConfig(join(directory, 'space.yaml'))
    const path = [...(config.several ? ['spaces', space] : []), 'participants', participant, 'capabilities']
    const list = source.document.getIn(path)
    const all: unknown = Object(list).toJSON?.() ?? list
    const index = Array.isArray(all)
      ? all.findIndex((each: Capability) => capabilityText(each) === capability)
      : -1
    return index === -1 ? undefined : locate(source, [...path, `${index}`], 'value').line
  } catch {
    // Optional: the explanation works without a line number.
    return undefined
  }
}
