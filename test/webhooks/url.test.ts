import { expect, test } from 'vitest'
import { webhookUrl } from '../../shared/webhooks/url.ts'
import { refused } from '../support/refused.ts'
import { rowsOf } from '../support/rows.ts'

const accepted = rowsOf(`
  https://partner.example               https://partner.example/
  https://partner.example/hooks?a=1     https://partner.example/hooks?a=1
  https://partner.example:443/hooks     https://partner.example/hooks
  https://partner.example:8443/hooks    https://partner.example:8443/hooks
  HTTPS://Partner.Example/Hooks         https://partner.example/Hooks
  https://partner.example/a/../b        https://partner.example/b
  https://b\u00fccher.example/          https://xn--bcher-kva.example/
`)

test.each(accepted)('events may be sent to %s, spelled %s', (text, spelled) => {
  for (const local of [false, true]) expect(webhookUrl(text, { local })).toBe(spelled)
})

const refusals = rowsOf(`
  partner.example/hooks                 is not a URL
  /hooks                                is not a URL
  https://                              is not a URL
  https://partner.example:port/         is not a URL
  https://partner .example/             is not a URL
  https://user@partner.example/         must not carry credentials
  https://user:pass@partner.example/    must not carry credentials
  https://:pass@partner.example/        must not carry credentials
  http://partner.example/hooks          must use https
  http://partner.example:443/hooks      must use https
  http://localhost:3000/hooks           must use https
  http://127.0.0.2:3000/hooks           must use https
  http://[::1]:3000/hooks               must use https
  ftp://partner.example/hooks           must use https
  gopher://partner.example/hooks        must use https
  file:///etc/passwd                    must use https
  javascript:alert(1)                   must use https
  ftp://127.0.0.1/hooks                 must use https
  http://user@127.0.0.1:3000/hooks      must not carry credentials
  https://127.0.0.1:9001/hooks          must use port 443 or 8443
  https://partner.example:80/hooks      must use port 443 or 8443
  https://partner.example:22/hooks      must use port 443 or 8443
  https://partner.example:9001/hooks    must use port 443 or 8443
`)

test.each(refusals)('events may not be sent to %s: it %s', (text, reason) => {
  for (const local of [false, true]) {
    expect(refused(webhookUrl(text, { local }))).toEqual({
      code: '400/4400',
      details: { url: [reason] },
    })
  }
})

test('events may not be sent to an empty text', () => {
  expect(refused(webhookUrl('', { local: false })).details).toEqual({ url: ['is not a URL'] })
})

test('this machine may be named without TLS in the sandbox on it, and nowhere else', () => {
  const url = 'http://127.0.0.1:3000/hooks'
  expect(webhookUrl(url, { local: true })).toBe(url)
  expect(refused(webhookUrl(url, { local: false })).details).toEqual({ url: ['must use https'] })
})

test('a URL has at most 2048 characters', () => {
  const base = 'https://partner.example/'
  const longest = base.padEnd(2_048, 'a')
  expect(webhookUrl(longest, { local: false })).toBe(longest)
  const over = webhookUrl(`${longest}a`, { local: false })
  expect(refused(over).details).toEqual({ url: ['is not a URL'] })
})
