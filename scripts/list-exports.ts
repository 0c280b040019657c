export interface ExportGroup {
  readonly name: string
  readonly exports: readonly string[]
}

/**
 * Lists the exports of an entry by group. A comment such as `// Tools: those that …` begins a group. Exports that are declared
 * in the file itself belong to the first group.
 */
export function listExports(source: string): ExportGroup[] {
  const [declared = '', ...parts] = source.split(/^\/\/ ([^:\n]+): .*$/m)
  return parts.flatMap((name, at) => {
    if (at % 2 === 1) return []
    const own = at === 0 ? listNames(declared) : []
    return [{ name, exports: [...own, ...listNames(parts[at + 1] ?? '')] }]
  })
}

const listNames = (source: string): string[] => {
  const found = source.matchAll(/^export (?:(?:async )?(?:function|const) (\w+)|(?:type )?\{([^}]*)\})/gm)
  return [...found].flatMap(
    ([, name, list = '']) =>
      name ?? list.split(',').flatMap((each) => /\w+\s*$/.exec(each)?.[0].trim() ?? []),
  )
}
