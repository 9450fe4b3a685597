import { existsSync, readFileSync } from 'node:fs'
import { openApiText } from '../../openapi/document.ts'
import { referenceDocument, referenceHtml, referenceScript } from './reference-page.ts'
import { startHtml } from './start-page.ts'

/** Serves the pages for a browser; only the sandbox has these. */

type BrowserRequest = { pathname: string; host: string; accept: string | undefined }

type Page = { type: string; body: string | Buffer; policy?: string }

const policy = (...directives: readonly string[]): string =>
  [
    "default-src 'none'",
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    ...directives,
  ].join('; ')

const START_POLICY = policy("style-src 'self'")

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

const pages: Record<string, (request: BrowserRequest) => Page | undefined> = {
  '/': ({ accept = '', host }) =>
    accept.includes('text/html')
      ? { type: HTML, body: startHtml(`http://${host}`), policy: START_POLICY }
      : undefined,
  '/docs': () => ({ type: HTML, body: referenceHtml, policy: REFERENCE_POLICY }),
  '/docs/reference.js': () => ({ type: SCRIPT, body: referenceScript }),
  '/docs/openapi.json': () => ({ type: JSON_TYPE, body: referenceDocument() }),
  '/openapi.json': () => ({ type: JSON_TYPE, body: openApiText() }),
  '/pages.css': () => ({ type: 'text/css; charset=utf-8', body: file('pages.css') }),
  '/icon.svg': () => ({ type: 'image/svg+xml', body: file('icon.svg') }),
}

const SCALAR = /^\/docs\/scalar\/((?:chunks\/)?[\w-]+(?:\.[\w-]+)*\.js)$/

const scalarFile = (pathname: string): Page | undefined => {
  const name = SCALAR.exec(pathname)?.[1]
  if (!name) return undefined
  const url = new URL(`browser/${name}`, import.meta.resolve('@scalar/api-reference'))
  return existsSync(url) ? { type: SCRIPT, body: readFileSync(url) } : undefined
}

/** Returns the page that a GET request names; undefined for other paths. */
export const pageFor = (request: BrowserRequest) => {
  const { pathname } = request
  const page = Object.hasOwn(pages, pathname) ? pages[pathname]?.(request) : scalarFile(pathname)
  if (!page) return undefined
  return {
    headers: {
      'content-type': page.type,
      ...(page.policy && { 'content-security-policy': page.policy }),
    },
    body: page.body,
  }
}
