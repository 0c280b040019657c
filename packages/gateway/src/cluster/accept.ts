import type { Receipt, Refusal } from '../pipeline/passage.js'
import type { Sender } from '../space/sender.js'
import type { Space } from '../space/space.js'

/** Takes one frame to the pipeline, wherever the space is sequenced. */
export async function accept(
  space: Space,
  sender: Sender,
  frame: Uint8Array,
  isBinary = false,
): Promise<Receipt | Refusal> {
  const { elsewhere } = space
  if (!space.follows || space.stopped !== undefined || !elsewhere?.isFor(frame)) {
    return space.submit(sender, frame, isBinary)
  }
  return elsewhere.submit(sender, frame, isBinary)
}
