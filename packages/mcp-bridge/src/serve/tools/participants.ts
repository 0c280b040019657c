import { dataResult } from '../results.js'
import type { SpaceService } from '../service.js'
import { addTool, describeTool, type OwnTools } from './tool.js'

const listing = describeTool({
  title: 'Participants of the space',
  description: 'Lists the participants of the space, whether they are present, and their capabilities.',
  annotations: { readOnlyHint: true },
})

export function addListParticipants(tools: OwnTools, { space }: SpaceService): void {
  addTool(tools, 'list_participants', listing, async () =>
    dataResult({ you: space.id, participants: space.participants }),
  )
}
