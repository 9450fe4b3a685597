import { expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { missingReferenceHtml } from '../../sandbox/pages/reference-page.ts'
import { openApiText } from '../../sdk/openapi/document.ts'
import { useService } from '../support/running-service.ts'

const service = useService()

const get = (path: string, headers = {}) =>
  fetch(service.sandbox().address + path, { headers, redirect: 'manual' })

const CHROME = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test('the root is the start page for a browser, with the address of the request', async () => {
  const response = await get('/', { Accept: CHROME })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const { host } = new URL(service.sandbox().address)
  expect(await response.text()).toContain(`curl -s http://${host}/api/v1/`)
})

test.each(['*/*', 'application/json', ''])('the root is 404 for Accept: %s', async (accept) => {
  const response = await get('/', { Accept: accept })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({ success: false, error: { code: 1404 } })
})

test('the sandbox serves the API description', async () => {
  const response = await get('/openapi.json')
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(await response.text()).toBe(openApiText())
})

const PAGES = ['/', '/docs', '/docs/guides', '/console']

test.each(PAGES)('no content of %s is inline or foreign', async (path) => {
  const response = await get(path, { Accept: CHROME })
  const policy = response.headers.get('content-security-policy') ?? ''
  const directives = policy.split('; ')
  const denied = ['default-src', 'base-uri', 'form-action', 'frame-ancestors']
  expect(directives).toEqual(expect.arrayContaining(denied.map((name) => `${name} 'none'`)))
  const scripts = directives.filter((directive) => directive.startsWith('script-src'))
  expect(scripts).toEqual(["script-src 'self'"])
  expect(response.headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(response.headers.get('referrer-policy')).toBe('no-referrer')
  expect(policy).not.toMatch(/https?:|\*/)
  expect((await response.text()).match(/<(?:link|script|img)[^>]*"https?:[^>]*>/g)).toBeNull()
})

test('an unknown guide is a page with a link to all guides for a browser, and 404/1404 for others', async () => {
  const page = await get('/docs/guides/unknown', { Accept: CHROME })
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect(await page.text()).toContain('href="/docs/guides"')
  const reply = await get('/docs/guides/unknown', { Accept: '*/*' })
  expect(await reply.json()).toMatchObject({ error: { code: 1404 } })
})

test('a clone without the reference links the descriptions and names the command that adds it', () => {
  const [, links] = missingReferenceHtml.split('<main>')
  expect(links?.match(/(?<=href=").*?(?=")/g)).toEqual([
    '/openapi.json',
    '/docs/guides/bank-protocol.json',
  ])
  const [, script = ''] = /<code>npm run (.*)<\/code>/.exec(missingReferenceHtml) ?? []
  expect(Object.keys(manifest.scripts)).toContain(script)
})

const noScripts = ['standalone.js.map', 'chunks/missing.js', '..%2fpackage.json']
test.each(noScripts)('the scripts of the reference do not include %s', async (name) => {
  expect((await get(`/docs/scalar/${name}`)).status).toBe(404)
})
