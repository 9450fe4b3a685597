import type { Secrets } from '../../../sandbox/aws/secrets.ts'
import { MINUTE_MS } from '../invariants/time-and-money.ts'
import type { Caller } from '../peers/api.ts'
import { isDone, resultOf, type Staff } from '../peers/operators.ts'
import type { SettingChange } from './setting-changes.ts'

/** Makes the drawn changes of settings, one after the other. */

/** How long callers try a revoked token. */
const PROBES_MS = [0, 15_000, 45_000, 10 * MINUTE_MS]

/** Changes from one rotation of the sealing key to the next; usual runs have fewer. */
const CHANGES_PER_KEY = 15

const RETRY_MAX_MS = 8 * MINUTE_MS

const SEALING_KEY = { SecretId: 'sealing-key' }

type Deps = Pick<Staff, 'api' | 'operators'> & { secrets: Secrets }

export const newSettings = ({ api, operators, secrets: { calls: key } }: Deps) => {
  /** Rotates the sealing key (docs/operations.md#rotate-the-sealing-key). */
  const rotateKey = async (name: string): Promise<void> => {
    const { VersionId: old } = key.GetSecretValueCommand(SEALING_KEY)
    const label = { ...SEALING_KEY, VersionStage: `key-${old}` }
    key.UpdateSecretVersionStageCommand({ ...label, MoveToVersionId: old })
    key.PutSecretValueCommand({ ...SEALING_KEY, SecretString: name, ClientRequestToken: name })
    let wait = MINUTE_MS
    for (let unreadable = 1; unreadable !== 0; wait = Math.min(2 * wait, RETRY_MAX_MS)) {
      await api.sleep(wait)
      const done = await operators.operate('secret', 'reseal', {}, { triesMax: 1 })
      unreadable = resultOf(done)?.unreadable
    }
    key.UpdateSecretVersionStageCommand({ ...label, RemoveFromVersionId: old })
  }

  const probe = async (owner: Caller, token: string): Promise<void> => {
    const name = owner.kind === 'bank' ? 'list-debit-transactions' : 'list-banks'
    for (const after of PROBES_MS) {
      await api.sleep(after)
      await api.ask({ name, caller: owner, query: { per_page: '1' }, token, triesMax: 1 })
    }
  }

  const change = async ({ verb, options }: SettingChange): Promise<void> => {
    const [noun = '', action = ''] = verb.split(' ')
    const { provider, bank = '' } = options
    const owner: Caller =
      provider === undefined ? { kind: 'bank', id: bank } : { kind: 'provider', id: provider }
    if (verb === 'credential revoke') {
      const { previous: token } = api.credentials.of(owner)
      if (token === undefined) return
      await operators.operate(noun, action, { token })
      return void probe(owner, token)
    }
    const { rows, ...named } = options
    const file = rows ? await operators.upload(noun, JSON.parse(rows), named) : {}
    if (!file) return
    // The first secret is the previous one after the second rotation.
    const times = verb === 'provider rotate-request-secret' ? 2 : 1
    for (let n = 0; n < times; n += 1) {
      const done = await operators.operate(noun, action, { ...named, ...file })
      if (isDone(done)) api.credentials.learn(owner, { ...options, ...resultOf(done) })
    }
  }

  return {
    /** Changes follow one another, so that each setting is known between two changes. */
    start: async (changes: readonly SettingChange[]): Promise<void> => {
      let rotation = Promise.resolve()
      for (const [n, one] of changes.toSorted((a, b) => a.at - b.at).entries()) {
        await api.until(one.at)
        if (n % CHANGES_PER_KEY === CHANGES_PER_KEY - 1)
          rotation = rotation.then(() => rotateKey(`key ${n}`))
        await change(one)
      }
    },
  }
}
