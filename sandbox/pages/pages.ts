import { existsSync, readFileSync } from 'node:fs'
import { bundleForBrowsers } from '../../console/server/assets.ts'
import { openApiText } from '../../sdk/openapi/document.ts'
import { pageHtml, type Site, siteLinks } from './layout.ts'
import {
  missingReferenceHtml,
  referenceDocument,
  referenceHtml,
  referenceScript,
} from './reference-page.ts'
import { startHtml } from './start-page.ts'

/** Serves the pages for a browser; only the sandbox has these. */

type BrowserRequest = { pathname: string; host: string; accept?: string | undefined; site?: Site }

type Page = { type: string; body: string | Buffer; policy?: string; status?: number } | undefined

const policy = (...directives: readonly string[]): string =>
  [
    "default-src 'none'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...directives,
  ].join('; ')

/** With search and copying. */
const GUIDE_POLICY = policy("style-src 'self'", "script-src 'self'", "connect-src 'self'")

const REFERENCE_POLICY = policy(
  "script-src 'self'",
  // The API description, and requests that the page tries.
  "connect-src 'self'",
  // Scalar creates style elements and style attributes.
  "style-src 'self' 'unsafe-inline'",
)

const file = (name: string): Buffer => readFileSync(new URL(name, import.meta.url))

const HTML = 'text/html; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'

/** In the package the script is next to the bundle of this file. */
export const GUIDE_SCRIPT = 'guides.js'

export const buildGuideScript = () => bundleForBrowsers(import.meta.dirname, ['guide-script.ts'])

let guideScript: Promise<string> | undefined

const guideScriptText = (): Promise<string> => {
  guideScript ??= existsSync(new URL(GUIDE_SCRIPT, import.meta.url))
    ? Promise.resolve(file(GUIDE_SCRIPT).toString())
    : buildGuideScript().then(({ script }) => script)
  return guideScript
}

const pages: Record<string, (request: BrowserRequest) => Page | Promise<Page>> = {
  '/': ({ accept = '', host }) =>
    accept.includes('text/html')
      ? { type: HTML, body: startHtml(`http://${host}`), policy: GUIDE_POLICY }
      : undefined,
  '/docs': ({ site }) => ({
    type: HTML,
    body: scalarFile('standalone.esm.js') ? referenceHtml(site) : missingReferenceHtml,
    policy: REFERENCE_POLICY,
  }),
  '/docs/reference.js': ({ site }) => ({ type: SCRIPT, body: referenceScript(site) }),
  '/docs/guides.js': async () => ({ type: SCRIPT, body: await guideScriptText() }),
  '/docs/guides/search.json': async () => {
    const { guideSections } = await import('./guides.ts')
    return { type: JSON_TYPE, body: JSON.stringify(guideSections()) }
  },
  '/docs/openapi.json': () => ({ type: JSON_TYPE, body: referenceDocument() }),
  '/openapi.json': () => ({ type: JSON_TYPE, body: openApiText() }),
  '/pages.css': () => ({ type: 'text/css; charset=utf-8', body: file('pages.css') }),
  '/icon.svg': () => ({ type: 'image/svg+xml', body: file('icon.svg') }),
}

const SCALAR = /^\/docs\/scalar\/((?:chunks\/)?[\w-]+(?:\.[\w-]+)*\.js)$/

/** Returns a script of Scalar, which `npm run tools` installs. */
const scalarFile = (name: string | undefined): Page => {
  if (!name) return undefined
  try {
    const url = new URL(`browser/${name}`, import.meta.resolve('@scalar/api-reference'))
    return { type: SCRIPT, body: readFileSync(url) }
  } catch {
    return undefined
  }
}

const GUIDE = /^\/docs\/guides(?:\/([a-z-]+))?$/
const GUIDE_FILE =
  /^\/docs\/guides\/([a-z-]+\.json|fixtures\/[a-z-]+\.yaml|images\/[a-z-]+\.png|drawings\/[a-z\d-]+\.svg)$/

const guideTypes: Record<string, string> = {
  json: JSON_TYPE,
  yaml: 'text/yaml; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

const noGuide = (): Page => ({
  type: HTML,
  status: 404,
  body: pageHtml({
    title: 'No such guide',
    kind: 'guide',
    body: `${siteLinks('/docs/guides')}
    <main><h1>No such guide</h1>
      <p><a href="/docs/guides">All guides</a></p></main>`,
  }),
  policy: GUIDE_POLICY,
})

const guidePage = async ({ pathname, host, accept = '', site }: BrowserRequest): Promise<Page> => {
  const [guide, name] = GUIDE.exec(pathname) ?? []
  const [file, path = ''] = GUIDE_FILE.exec(pathname) ?? []
  if (!guide && !file) return undefined
  const { guideFile, guideHtml } = await import('./guides.ts')
  if (file) {
    const body = await guideFile(path)
    return body === undefined
      ? undefined
      : { type: guideTypes[path.split('.')[1] ?? ''] ?? '', body }
  }
  const html = guideHtml(name, site)
  // Commands name the default address.
  const body = html?.replaceAll('http://127.0.0.1:3000', `http://${host}`)
  if (body !== undefined) return { type: HTML, body, policy: GUIDE_POLICY }
  return accept.includes('text/html') ? noGuide() : undefined
}

/** Returns the page that a GET request names; undefined for other paths. */
export const pageFor = async (request: BrowserRequest) => {
  const { pathname } = request
  const page = Object.hasOwn(pages, pathname)
    ? await pages[pathname]?.(request)
    : (scalarFile(SCALAR.exec(pathname)?.[1]) ?? (await guidePage(request)))
  if (!page) return undefined
  return {
    status: page.status ?? 200,
    headers: {
      'content-type': page.type,
      ...(page.policy && {
        'content-security-policy': page.policy,
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      }),
    },
    body: page.body,
  }
}
