/** Names of highlight.js languages, by file extension. */
const languages: Readonly<Record<string, string>> = {
  ...{ ts: 'typescript', tsx: 'typescript', js: 'javascript', mjs: 'javascript', jsx: 'javascript' },
  ...{ py: 'python', rs: 'rust', go: 'go', java: 'java', rb: 'ruby', sh: 'bash', sql: 'sql', css: 'css' },
  ...{ yaml: 'yaml', yml: 'yaml', html: 'xml', xml: 'xml', md: 'markdown', c: 'c', h: 'c', cpp: 'cpp' },
}

/** Returns the highlight.js language of a file, by the extension of its path. */
export const getLanguage = (path: string | undefined): string | undefined =>
  languages[/\.(\w{1,5})(?: \(deleted\))?$/.exec(path ?? '')?.[1]?.toLowerCase() ?? '']
