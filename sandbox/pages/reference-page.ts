import { openApi } from '../../sdk/openapi/document.ts'
import { credentials } from '../seeds.ts'
import { pageHtml, type Site, siteLinks } from './layout.ts'

/** The API reference: Scalar, served from its package. */

/** Sample languages: curl, Node and Python. Scalar only accepts a list of those to hide. */
const HIDDEN_CLIENTS = [
  ...['c', 'clojure', 'csharp', 'dart', 'fsharp', 'go', 'http', 'java', 'js', 'julia', 'kotlin'],
  ...['objc', 'ocaml', 'php', 'powershell', 'r', 'ruby', 'rust', 'swift'],
  ...['shell/wget', 'shell/httpie', 'node/axios', 'node/ofetch', 'node/undici'],
  ...['python/python3', 'python/aiohttp', 'python/httpx_sync', 'python/httpx_async'],
]

const tokenOf = (kind: 'provider' | 'bank') => ({
  token: credentials.find((credential) => credential.kind === kind)?.token,
})

const configuration = {
  // The colours are those of pages.css; Scalar's fonts are on another host.
  theme: 'none',
  withDefaultFonts: false,
  // These features call Scalar's servers.
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: HIDDEN_CLIENTS,
  documentDownloadType: 'none',
}

const api = { ...configuration, title: 'API for providers and banks', slug: 'api' }

const inSandbox = {
  authentication: { securitySchemes: { provider: tokenOf('provider'), bank: tokenOf('bank') } },
}

/** No service answers there. */
const asFile = { hideTestRequestButton: true }

/** The service sends these requests, so the page does not offer them. */
const bankProtocol = {
  ...configuration,
  title: 'Protocol for banks',
  slug: 'bank-protocol',
  hideTestRequestButton: true,
}

/**
 * Returns the API description without preselected optional parameters: the example of a cursor is
 * never a cursor of this sandbox.
 */
export const referenceDocument = (): string =>
  JSON.stringify(openApi(), (_key, value) => {
    if (value?.required !== false || !('example' in value)) return value
    const { example, ...parameter } = value
    return { ...parameter, examples: { example: { value: example, 'x-disabled': true } } }
  })

/** Returns the script of the page, whose addresses are relative to it. */
export const referenceScript = (site: Site = 'sandbox'): string => `
import { createApiReference } from './scalar/standalone.esm.js'

const at = (path) => new URL(path, import.meta.url).href
createApiReference('#reference', [
  {
    ...${JSON.stringify({ ...api, ...(site === 'sandbox' ? inSandbox : asFile) })},
    url: at('openapi.json'),
    // Samples need an absolute address.
    ${site === 'sandbox' ? "servers: [{ url: location.origin, description: 'This sandbox' }]," : ''}
  },
  { ...${JSON.stringify(bankProtocol)}, url: at('guides/bank-protocol.json') },
])
`

const TITLE = 'Debit collection service: reference'

/** The page of a clone without Scalar, which is large. */
export const missingReferenceHtml = pageHtml({
  title: TITLE,
  kind: 'guide',
  body: `${siteLinks('/docs')}
    <main><h1>Reference</h1>
      <p>The descriptions: <a href="/openapi.json">API</a>,
        <a href="/docs/guides/bank-protocol.json">protocol for banks</a>.</p>
      <p>To add the reference, run <code>npm run tools</code> in the repository.</p></main>`,
})

export const referenceHtml = (site: Site = 'sandbox'): string =>
  pageHtml({
    title: TITLE,
    kind: 'reference',
    head: '<script type="module" src="/docs/reference.js"></script>',
    body: `${siteLinks('/docs', site)}
    <div id="reference"></div>`,
  })
