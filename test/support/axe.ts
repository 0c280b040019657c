import axe from 'axe-core'
import type { DrivenPage } from './driven-page.js'

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[]
}

/** Lists the violations that axe finds in the current page, in both themes. */
export async function barriers(page: DrivenPage): Promise<string[]> {
  await page.evaluate(`${axe.source}; undefined`)
  const found: string[] = []
  for (const theme of ['light', 'dark']) {
    const violations = await page.evaluate<Violation[]>(
      `(async () => {
        const { theme } = document.documentElement.dataset
        document.documentElement.dataset.theme = '${theme}'
        const { violations } = await axe.run({ resultTypes: ['violations'] })
        if (theme === undefined) delete document.documentElement.dataset.theme
        else document.documentElement.dataset.theme = theme
        return violations
      })()`,
    )
    for (const { id, nodes } of violations) {
      for (const { target, failureSummary } of nodes)
        found.push(`${theme} ${id} ${target.join(' ')}: ${failureSummary}`)
    }
  }
  return found
}
