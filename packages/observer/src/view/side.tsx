import type { VNode } from 'preact'
import { Filters } from './filters.js'
import { HiddenList } from './hidden-list.js'
import { People } from './people.js'

/** Who is there, what is shown alone, and what is hidden. */
export const Side = ({ met }: { met: string | undefined }): VNode => (
  <div class="side">
    <People met={met} />
    <Filters />
    <HiddenList />
  </div>
)

/** Puts the focus on the first filter. */
export const toFilters = (): void => document.querySelector<HTMLElement>('.filters button')?.focus()
