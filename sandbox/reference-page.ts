import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { openApiText } from '../openapi/document.ts'

/** Serves openapi.json and a page to read and try it; only the sandbox has these. */

const HTML = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Debit collection service: API reference</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script>
      SwaggerUIBundle({
        url: '/openapi.json',
        dom_id: '#reference',
        deepLinking: true,
        showExtensions: true,
        displayRequestDuration: true,
        defaultModelsExpandDepth: 0,
        // Disables the badge, which would call an external server.
        validatorUrl: null,
      })
    </script>
  </body>
</html>
`

/** Blocks all requests to other hosts. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
].join('; ')

const { resolve } = createRequire(import.meta.url)

const asset = (name: string) => () => readFileSync(resolve(`swagger-ui-dist/${name}`))

const pages: Record<string, readonly [type: string, body: () => string | Buffer]> = {
  '/openapi.json': ['application/json', openApiText],
  '/docs': ['text/html', () => HTML],
  '/docs/swagger-ui.css': ['text/css', asset('swagger-ui.css')],
  '/docs/swagger-ui-bundle.js': ['text/javascript', asset('swagger-ui-bundle.js')],
}

export const referencePage = (path: string) => {
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined
  if (!page) return undefined
  const [type, body] = page
  return {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': CONTENT_SECURITY_POLICY,
    },
    body: body(),
  }
}
