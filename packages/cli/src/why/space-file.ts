import { join } from 'node:path'
import { capabilityText } from '@meup/folds'
import type { Capability } from '@meup/protocol'
import { readConfig } from '../config/load.js'
import { locate } from '../config/yaml-source.js'
import { readGatewayFile } from '../lib/running-gateway.js'

/**
 * The line of the space.yaml in this folder that gives a participant a capability, as explanations name it. `undefined`: the
 * gateway at `url` is not that of this folder, or the file has changed since.
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
    // The explanation does not depend on it.
    return undefined
  }
}
