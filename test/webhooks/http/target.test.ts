import { expect, test } from 'vitest'
import type { Network } from '../../../shared/webhooks/http/network.ts'
import { strict, targetOf } from '../../../shared/webhooks/http/target.ts'
import { refused } from '../../support/refused.ts'
import { fakeResolver, networkOf } from './servers.ts'

const NAMED = 'https://provider.example/hooks'

const check = (text: string, changes: Partial<Network> = {}, milliseconds = 5_000) =>
  targetOf(text, {
    network: networkOf(changes),
    rules: strict,
    signal: AbortSignal.timeout(milliseconds),
  })

const rejection = async (target: ReturnType<typeof check>) => {
  const result = await target
  if (!('cause' in result)) throw new Error(`Not rejected: ${result.url}`)
  const { url } = refused(result.refusal).details as { url: string[] }
  return [result.cause, ...url]
}

test.each([[['8.8.8.8']], [['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111']]])(
  'a name with the public addresses %j is resolved once',
  async (addresses) => {
    const { lookups, resolve } = fakeResolver(addresses, ['127.0.0.1'])
    expect(await check(NAMED, { resolve })).toEqual({ url: new URL(NAMED), addresses })
    expect(lookups).toEqual(['provider.example'])
  },
)

const privateLists =
  '127.0.0.1|10.0.0.1|169.254.169.254|192.168.1.1|0.0.0.0|::1|fd00:ec2::254|fe80::1%eth0|' +
  '::ffff:8.8.8.8|64:ff9b::8.8.8.8|8.8.8.8,10.0.0.1|10.0.0.1,8.8.8.8|8.8.8.8,1.1.1.1,::1|' +
  '2606:4700:4700::1111,127.0.0.1|alias.provider.example|'

test.each(privateLists.split('|'))('a name with the addresses %s is rejected', async (list) => {
  for (const localPeers of [[], ['127.0.0.1']]) {
    const target = check(NAMED, { localPeers, resolve: async () => list.split(',') })
    expect(await rejection(target)).toEqual(['address', 'must resolve to public addresses only'])
  }
})

test.each([
  ['https://8.8.8.8/hooks', '8.8.8.8'],
  ['https://134744072/hooks', '8.8.8.8'],
  ['https://[2606:4700:4700:0::1111]/hooks', '2606:4700:4700::1111'],
])('%s has the public address %s without a lookup', async (text, address) => {
  const { lookups, resolve } = fakeResolver()
  expect(await check(text, { resolve })).toMatchObject({ addresses: [address] })
  expect(lookups).toEqual([])
})

test('only a host that a local sandbox names may be private, and only without TLS', async () => {
  const network = { localPeers: ['peer.example'], resolve: async () => ['10.0.0.2'] }
  const url = new URL('http://peer.example:8080/hooks')
  expect(await check(url.href, network)).toEqual({ url, addresses: ['10.0.0.2'] })
  const secure = await rejection(check('https://peer.example:8443/hooks', network))
  expect(secure).toEqual(['address', 'must resolve to public addresses only'])
  const other = await rejection(check('http://other.example:8080/hooks', network))
  expect(other).toEqual(['address', 'must use https'])
})
