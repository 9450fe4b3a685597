import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { staticPaths } from '../sandbox/pages/layout.ts'
import { pageFor } from '../sandbox/pages/pages.ts'
import { readArguments } from './terminal/arguments.ts'
import { fail } from './terminal/fail.ts'

/** `npm run docs`: writes the guides and the reference, as the sandbox serves them, into a folder. */

const FOLDER = 'dist/docs'

const { positionals, refuse } = await readArguments({
  name: 'docs',
  form: '',
  summary:
    `Writes the guides and the reference into ${FOLDER}, for any web server, at any path, that serves\n` +
    'index.html for a folder.',
  options: {},
})
if (positionals.length > 0) refuse()

type Written = { body: string | Buffer; isPage: boolean }

/** What a page names on this site: links, pictures and scripts. */
const ADDRESS = /(?<=(?:href|src|srcset)=")[/#][^"]*/g
/** What a script imports. */
const IMPORT = /(?<=(?:from|import\()\s*["'])\.\.?\/[^"']+(?=["'])/g

const patterns: Record<string, RegExp> = { html: ADDRESS, javascript: IMPORT }

/** Scripts load these by addresses that are relative to their own. */
const loadedBy: Record<string, readonly string[]> = {
  '/docs/reference.js': ['/docs/openapi.json', '/docs/guides/bank-protocol.json'],
  '/docs/guides.js': ['/docs/guides/search.json'],
}

const written = new Map<string, Written>()
/** Each address with the page that names it. */
const named: [address: string, by: string][] = staticPaths.map((path) => [path, 'the site'])

for (const [address, by] of named) {
  const [path = ''] = address.split('#')
  if (path === '' || written.has(path)) continue
  const { body, headers } =
    (await pageFor({ pathname: path, host: '127.0.0.1:3000', site: 'static' })) ??
    fail(`${by}: ${address} does not exist`)
  const [, type = ''] = headers['content-type'].split(/[/;]/)
  written.set(path, { body, isPage: type === 'html' })
  const pattern = patterns[type]
  for (const one of (pattern && String(body).match(pattern)) ?? []) {
    named.push([one.startsWith('.') ? new URL(one, `http://site${path}`).pathname : one, path])
  }
  for (const one of loadedBy[path] ?? []) named.push([one, path])
}

const hasAnchor = (address: string, by: string): boolean => {
  const [path, anchor] = address.split('#')
  if (!anchor) return true
  const { body = '' } = written.get(path || by) ?? {}
  return String(body).includes(`id="${decodeURIComponent(anchor)}"`)
}

const broken = named.filter(([address, by]) => !hasAnchor(address, by))
if (broken.length > 0)
  fail(broken.map(([address, by]) => `${by}: ${address} does not exist`).join('\n'))

/** Makes the addresses of a page relative, because the site may be below any path. */
const relative = (path: string, html: string): string => {
  const root = '../'.repeat(path.split('/').length - 1)
  return html.replaceAll(ADDRESS, (address) => address.replace(/^\//, root))
}

rmSync(FOLDER, { recursive: true, force: true })
for (const [path, { body, isPage }] of written) {
  const file = join(FOLDER, isPage ? `${path}/index.html` : path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, isPage ? relative(path, String(body)) : body)
}
const [first = ''] = staticPaths
const start = `${first.slice(1)}/`
// Without an icon, a browser requests /favicon.ico, which is outside the site.
const forwarding =
  '<!doctype html><link rel="icon" href="icon.svg">' +
  `<meta http-equiv="refresh" content="0; url=${start}"><a href="${start}">Guides</a>`
writeFileSync(join(FOLDER, 'index.html'), `${forwarding}\n`)
process.stdout.write(`${FOLDER}: ${written.size} files\n`)
