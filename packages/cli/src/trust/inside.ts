import type { SpaceClient } from '@meup/agent-sdk'
import { type ConnectionFlags, enter } from '../connection.js'

/** Enters the space that the flags name for as long as it takes. */
export async function inside(
  flags: ConnectionFlags,
  act: (space: SpaceClient) => Promise<void>,
): Promise<void> {
  const space = await enter(flags)
  try {
    await act(space)
  } finally {
    space.close()
  }
}
