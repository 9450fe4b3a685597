import { openApi } from '../../openapi/document.ts'
import { credentials } from '../seeds.ts'

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
  url: '/docs/openapi.json',
  authentication: { securitySchemes: { provider: tokenOf('provider'), bank: tokenOf('bank') } },
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

export const referenceScript = `import { createApiReference } from './scalar/standalone.esm.js'

createApiReference('#reference', {
  ...${JSON.stringify(configuration)},
  // Samples need an absolute address.
  servers: [{ url: location.origin, description: 'This sandbox' }],
})
`

export const referenceHtml = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Debit collection service: API reference</title>
    <link rel="icon" href="/icon.svg">
    <link rel="stylesheet" href="/pages.css">
    <script type="module" src="/docs/reference.js"></script>
  </head>
  <body>
    <div id="reference"></div>
  </body>
</html>
`
