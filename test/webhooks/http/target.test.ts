import { describe, expect, test } from 'vitest'
import type { Network } from '../../../shared/webhooks/http/network.ts'
import { strict, targetOf } from '../../../shared/webhooks/http/target.ts'
import { refused } from '../../support/refused.ts'
import { fakeResolver, networkOf } from './post-request.ts'

const URL_OF_PROVIDER = 'https://provider.example/hooks'

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

test.each([
  [['8.8.8.8']],
  [['8.8.8.8', '1.1.1.1', '2606:4700:4700::1111']],
  [['2606:4700:4700::1111']],
])('a name with the public addresses %j is resolved once', async (addresses) => {
  const { lookups, resolve } = fakeResolver(addresses, ['127.0.0.1'])
  const target = await check(URL_OF_PROVIDER, { resolve })
  expect(target).toEqual({ url: new URL(URL_OF_PROVIDER), addresses })
  expect(lookups).toEqual(['provider.example'])
})

test.each([
  ['127.0.0.1'],
  ['10.0.0.1'],
  ['169.254.169.254'],
  ['192.168.1.1'],
  ['0.0.0.0'],
  ['::1'],
  ['fd00:ec2::254'],
  ['fe80::1%eth0'],
  ['::ffff:8.8.8.8'],
  ['64:ff9b::8.8.8.8'],
  ['8.8.8.8', '10.0.0.1'],
  ['10.0.0.1', '8.8.8.8'],
  ['8.8.8.8', '1.1.1.1', '::1'],
  ['2606:4700:4700::1111', '127.0.0.1'],
  ['alias.provider.example'],
  [''],
])('a name with the addresses %s %s %s is rejected', async (...addresses) => {
  for (const local of [false, true]) {
    const target = check(URL_OF_PROVIDER, { local, resolve: async () => addresses })
    expect(await rejection(target)).toEqual(['address', 'must resolve to public addresses only'])
  }
})

describe('names that do not resolve', () => {
  const lookups: [string, () => Promise<string[]>][] = [
    ['returns no address', async () => []],
    ['rejects', () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))],
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
  ]

  test.each(lookups)('a name is rejected when its lookup %s', async (_, resolve) => {
    const target = check(URL_OF_PROVIDER, { resolve })
    expect(await rejection(target)).toEqual(['dns', 'does not resolve'])
  })

  test('a lookup without a response ends with the connection timeout', async () => {
    const never = Promise.withResolvers<string[]>()
    const target = check(URL_OF_PROVIDER, { resolve: () => never.promise }, 50)
    expect(await rejection(target)).toEqual(['connect_timeout', 'does not resolve'])
  })
})

describe('an IP address in the URL is not looked up', () => {
  const { lookups, resolve } = fakeResolver()

  test.each([
    ['https://8.8.8.8/hooks', '8.8.8.8'],
    ['https://134744072/hooks', '8.8.8.8'],
    ['https://[2606:4700:4700:0::1111]/hooks', '2606:4700:4700::1111'],
  ])('%s has the public address %s', async (text, address) => {
    expect(await check(text, { resolve })).toMatchObject({ addresses: [address] })
    expect(lookups).toEqual([])
  })

  test.each(['127.0.0.1', '2130706433', '[::1]'])('%s is rejected as private', async (host) => {
    const target = check(`https://${host}/hooks`, { resolve })
    expect(await rejection(target)).toEqual(['address', 'must not name a private address'])
    expect(lookups).toEqual([])
  })
})

test('a rejected URL is not looked up', async () => {
  const { lookups, resolve } = fakeResolver()
  const target = check('http://provider.example/hooks', { resolve })
  expect(await rejection(target)).toEqual(['address', 'must use https'])
  expect(lookups).toEqual([])
})
