import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { lazily } from '../host/metrics.js'
import type { PageFile, PageFiles } from '../http/page.js'

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}
const indexFile = 'index.html'
const hashedFolder = 'assets/'

/** Reads a built page into memory, so that requests cannot reach other files. Throws if the folder has no index. */
export function readPageFiles(directory: URL): PageFiles {
  const folder = fileURLToPath(directory)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && getContentType(entry.name) !== undefined)
    .map((entry) => join(entry.parentPath, entry.name))
  const page = new Map(files.map((file) => read(file, relative(folder, file).split(sep).join('/'))))
  if (!page.has('/')) throw new Error(`${folder} has no ${indexFile}. Build the page first.`)
  return page
}

function read(file: string, path: string): [path: string, file: PageFile] {
  const body = new Uint8Array(readFileSync(file))
  const type = getContentType(path) ?? ''
  const gzipped = lazily(() => compress(body))
  return [
    path === indexFile ? '/' : `/${path}`,
    { type, body, gzipped, isHashed: path.startsWith(hashedFolder) },
  ]
}

const compress = async (body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(await promisify(gzip)(body, { level: 9 }))

const getContentType = (name: string): string | undefined =>
  contentTypes[name.slice(name.lastIndexOf('.') + 1)]
