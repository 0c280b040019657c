import { blockSamples } from './block-samples.js'
import { chatSamples } from './chat-samples.js'
import { cloudSamples } from './cloud-samples.js'
import { extendedSamples } from './extended-samples.js'
import { oddBlockSamples } from './odd-block-samples.js'
import { oddChatSamples } from './odd-chat-samples.js'
import { oddCloudSamples } from './odd-cloud-samples.js'
import type { Sample } from './sample.js'

export const samples: readonly Sample[] = [
  ...chatSamples,
  ...extendedSamples,
  ...blockSamples,
  ...cloudSamples,
  ...oddChatSamples,
  ...oddBlockSamples,
  ...oddCloudSamples,
]

/** Throws if no sample has this name. */
export function getSample(name: string): Sample {
  const sample = samples.find((each) => each.name.startsWith(name))
  if (sample === undefined) throw new Error(`there is no sample of ${name}`)
  return sample
}
