import fc from 'fast-check'
import { expect, test } from 'vitest'
import { webhookUrl } from '../../../shared/webhooks/http/target.ts'
import { refused } from '../../support/refused.ts'
import { rowsOf } from '../../support/rows.ts'

const anywhere = { localPeers: [], ownHosts: [] }
const onThisMachine = { localPeers: ['127.0.0.1'], ownHosts: [] }

const refusal = (reason: string | undefined) => ({ code: '400/4400', details: { url: [reason] } })

const accepted = rowsOf(`
  https://provider.example               https://provider.example/
  https://provider.example/hooks?a=1     https://provider.example/hooks?a=1
  https://provider.example:443/hooks     https://provider.example/hooks
  https://provider.example:8443/hooks    https://provider.example:8443/hooks
  HTTPS://Provider.Example/Hooks         https://provider.example/Hooks
  https://provider.example/a/../b        https://provider.example/b
  https://provider.example./hooks        https://provider.example/hooks
  https://b\u00fccher.example/          https://xn--bcher-kva.example/
  https://localhost.example/            https://localhost.example/
  https://127.0.0.1.provider.example/    https://127.0.0.1.provider.example/
  https://8.8.8.8/hooks                 https://8.8.8.8/hooks
  https://134744072/hooks               https://8.8.8.8/hooks
  https://[2606:4700:4700::1111]/       https://[2606:4700:4700::1111]/
`)

test.each(accepted)('the URL %s is accepted as %s', (text, spelled) => {
  for (const at of [anywhere, onThisMachine]) expect(webhookUrl(String(text), at)).toBe(spelled)
})

test('an accepted URL is accepted again unchanged', () => {
  const letters = fc.constantFrom('a', '\u00fc', '.', '-', '%', '/', '?', '#', ' ', '\u{1F600}')
  fc.assert(
    fc.property(fc.string({ unit: letters, maxLength: 2_048 }), (text) => {
      const url = webhookUrl(`https://provider.example${text}`, anywhere)
      if (typeof url === 'string') expect(webhookUrl(url, anywhere)).toBe(url)
    }),
  )
})

const refusals = rowsOf(`
  is not a URL  provider.example/hooks  /hooks  https://  https://provider.example:port/
  is not a URL  https://provider.example:65536/  https://provider .example/  https://127.0.0.1.256/
  is not a URL  https://[::1%25lo]/
  must not contain credentials  https://user@provider.example/  https://user:pass@provider.example/
  must not contain credentials  https://:pass@provider.example/  https://provider.example@10.0.0.1/
  must not contain credentials  http://user@127.0.0.1:3000/hooks
  must use https  http://provider.example/hooks  http://provider.example:443/hooks
  must use https  http://localhost:3000/hooks  http://127.0.0.2:3000/hooks  http://[::1]:3000/hooks
  must use https  http://169.254.169.254/  ftp://provider.example/hooks  gopher://provider.example/hooks
  must use https  file:///etc/passwd  javascript:alert(1)  data:text/plain,hooks  ftp://127.0.0.1/hooks
  must use port 443 or 8443  https://127.0.0.1:9001/hooks  https://provider.example:80/hooks
  must use port 443 or 8443  https://provider.example:22/hooks  https://provider.example:9001/hooks
  must use port 443 or 8443  https://provider.example:0/hooks
  must give the full name of a host  https://localhost/hooks  https://localhost./hooks
  must give the full name of a host  https://LOCALHOST/hooks  https://%6c%6fcalhost/hooks
  must give the full name of a host  https://dynamodb/hooks  https://com./hooks  https://com../hooks
  must give the full name of a host  https://./hooks
  must not name a host of a private network  https://provider.localhost/  https://printer.local/
  must not name a host of a private network  https://printer.LOCAL./  https://metadata.google.internal/
  must not name a host of a private network  https://ip-10-0-0-1.ec2.internal/
`).flatMap(([reason = '', ...urls]) => urls.map((url) => [url, reason] as const))

test.each([...refusals, ['', 'is not a URL'] as const])(
  'the URL "%s" is refused: %s',
  (text, reason) => {
    for (const at of [anywhere, onThisMachine]) {
      expect(refused(webhookUrl(text, at))).toEqual(refusal(reason))
    }
  },
)

const privateHosts = rowsOf(`
  127.0.0.1  127.1  127.0.1  127.0.0.1.  2130706433  0x7f000001  0X7F.0.0.0X1  %31%32%37.0.0.1
  017700000001  0177.0.0.1  0177.0.0.01  127\u30020\u30020\u30021  127\uff0e0\uff0e0\uff0e1
  \uff11\uff12\uff17.0.0.1  \u2460\u2461\u2466.\u24ea.\u24ea.\u2460
  0  0.0.0.0  0x0  10.0.0.1  100.64.0.1  172.16.0.1  192.168.1.1  198.18.0.1  224.0.0.1
  169.254.169.254  2852039166  0xa9fea9fe  0251.0376.0251.0376  255.255.255.255  4294967295
  [::]  [::1]  [0:0:0:0:0:0:0:1]  [::127.0.0.1]  [::ffff:127.0.0.1]  [::ffff:7f00:1]
  [::ffff:8.8.8.8]  [64:ff9b::7f00:1]  [64:ff9b:1::1]  [2002:7f00:1::]  [2001:db8::1]
  [fd00:ec2::254]  [fe80::1]  [ff02::1]
`).flat()

test.each([...privateHosts, '127.0.\t0.1', '127.0.\n0.1'])(
  'a private address is refused in the notation %j',
  (host) => {
    for (const at of [anywhere, onThisMachine]) {
      const result = webhookUrl(`https://${host}/hooks`, at)
      expect(refused(result)).toEqual(refusal('must not name a private address'))
    }
  },
)

test('only a local sandbox accepts this machine without TLS, in every notation', () => {
  for (const host of ['127.0.0.1', '127.1', '2130706433']) {
    const url = `http://${host}:3000/hooks`
    expect(webhookUrl(url, onThisMachine)).toBe('http://127.0.0.1:3000/hooks')
    expect(refused(webhookUrl(url, anywhere))).toEqual(refusal('must use https'))
  }
})

test.each([
  ['https://api.service.example/', false],
  ['https://api.service.example:443/api', false],
  ['https://API.Service.Example./api', false],
  ['https://bank.service.example:8443/', false],
  ['http://127.0.0.1:3000/hooks', false],
  ['https://api.service.example:8443/', true],
  ['https://bank.service.example/', true],
  ['https://www.api.service.example/', true],
  ['http://127.0.0.1:3001/hooks', true],
])('the own hosts are refused by host and port: %s is accepted: %s', (text, isAccepted) => {
  const ownHosts = ['api.service.example', 'bank.service.example:8443', '127.0.0.1:3000']
  const result = webhookUrl(text, { localPeers: ['127.0.0.1'], ownHosts })
  if (isAccepted) expect(result).toBe(text)
  else expect(refused(result)).toEqual(refusal('must not name a host of this service'))
})

test('a URL has at most 2048 characters, also after escaping', () => {
  const base = 'https://provider.example/'
  const longest = base.padEnd(2_048, 'a')
  expect(webhookUrl(longest, anywhere)).toBe(longest)
  for (const tooLong of [`${longest}a`, base.padEnd(2_048, '\u00fc')]) {
    const refusedUrl = refused(webhookUrl(tooLong, anywhere))
    expect(refusedUrl).toEqual(refusal('must have at most 2048 characters'))
  }
})
