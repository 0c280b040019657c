import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { start } from './support.js'

const page = readFileSync(new URL('../../../docs/http.md', import.meta.url), 'utf8')

/** The cells of the table that begins with this heading. */
function table(heading: string): string[][] {
  const lines = page.split('\n')
  const begin = lines.findIndex((line) => line.startsWith(`| ${heading} `))
  const end = lines.findIndex((line, at) => at > begin && !line.startsWith('|'))
  return lines.slice(begin + 2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

const code = (text: string): string => `\`${text}\``

async function ask(path: string): Promise<string> {
  const { url } = await start({ participants: {} })
  return (await fetch(url + path)).text()
}

type Operations = Record<string, { parameters?: { name: string; description: string; in: string }[] }>

test('docs/http.md has the routes and parameters that there are', async () => {
  const { paths } = JSON.parse(await ask('/openapi.json')) as { paths: Record<string, Operations> }
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    ['post', 'get']
      .filter((method) => method in operations)
      .map((method) => code(`${method.toUpperCase()} ${path}`)),
  )
  expect(table('route').map(([route]) => route)).toEqual(routes)

  const parameters = Object.values(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap((operation) => operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, description }) => [code(name), description])
  const documented = table('parameter').map(([name, takes, gives]) => [name, `${gives}. Takes ${takes}.`])
  expect(new Map(documented as [string, string][])).toEqual(new Map(parameters as [string, string][]))
})

test('docs/http.md has the metrics that there are', async () => {
  const text = await ask('/metrics')
  const metrics = [...text.matchAll(/^# HELP (meup_\w+) (.*)\n# TYPE \w+ (\w+)$/gm)]
  expect(table('metric')).toEqual(metrics.map(([, name = '', help, type]) => [code(name), type, help]))
})
