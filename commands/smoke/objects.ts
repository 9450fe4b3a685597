import { randomBytes } from 'node:crypto'
import type { CallVerb, OperatorResult, OptionsOf } from '../../shared/operator/results.ts'
import { Mismatch } from '../expect.ts'
import type { Receiver } from './receiver.ts'
import type { operatorCommandOf } from './target.ts'

/** The objects of one run. Their names end in the same random characters. */
export type Objects = {
  bank: string
  provider: string
  /** A second provider, whose requests must be signed. */
  signing: { provider: string; secret: string; token: string }
  phone: string
  token: string
  /** Empty if it needs an approval, or if the caller could not deny the request. */
  bankToken: string
  hasCustomer: boolean
  /** False without the sandbox bank, or for the same reasons. */
  movesMoney: boolean
}

/** Calls that remove or disable objects, by the name of the object. */
export type Undo = Map<string, () => Promise<unknown>>

type Creation = {
  operator: CallVerb
  command: ReturnType<typeof operatorCommandOf>
  receiver: Receiver | undefined
  undo: Undo
  /** When credentials expire, in case the test is killed before it revokes them. */
  expiresOn: string | undefined
  /** Whether the caller may deny requests for approval. Without it they would stay, so none is caused. */
  mayDeny: boolean
}

/** Without a receiver, attempts go to this public host, and the service records their result. */
const NO_RECEIVER = 'https://example.com/debit-collection-smoke'

/** More than one run needs. */
const PER_MINUTE = '600'

const PROVIDER_OPERATIONS = [
  'get-debit-request',
  'list-debit-requests',
  'list-deliveries',
  'list-events',
]
const BANK_OPERATIONS = ['update-debit-transaction', 'debit-callback', 'list-debit-transactions']

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const randomLetters = (length: number): string =>
  [...randomBytes(length)].map((byte) => LETTERS[byte % LETTERS.length]).join('')
const randomDigits = (length: number): string =>
  [...randomBytes(length)].map((byte) => byte % 10).join('')

/** The sandbox bank pays accounts that do not end in 0000 or 9999 at once. */
const newAccount = (): string => `${randomDigits(9)}1`

/** Creates the objects; `undo` gets an entry for each. @throws Mismatch */
export const createObjects = async (creation: Creation): Promise<Objects> => {
  const { operator, undo, mayDeny } = creation
  const suffix = randomLetters(4)
  const bank = `Z${suffix}`
  const provider = `smoke-${suffix.toLowerCase()}`
  const secret = `rs_${randomBytes(24).toString('hex')}`
  // Area code 99 does not exist, so no customer has this number.
  const phone = `+23399${randomDigits(7)}`

  const movesMoney = await createBank(bank, creation)
  const createProvider = async (id: string, more: Partial<OptionsOf<'provider', 'create'>>) => {
    const options = { provider: id, name: `Smoke test ${suffix}` }
    const created = await operator('provider', 'create', { ...options, ...more })
    if (!(await unlessRequested(created, operator))) await operator('provider', 'create', options)
    undo.set(`provider ${id}`, () => operator('provider', 'disable', { provider: id }))
    return issueToken({ provider: id }, creation)
  }
  const linkCustomer = async () => {
    const account = { phone, bank }
    const options = { ...account, name: 'Smoke Test', 'account-number': newAccount() }
    const linked = await unlessRequested(await operator('customer', 'link', options), operator)
    if (linked) undo.set(`customer ${phone}`, () => operator('customer', 'unlink', account))
    return linked !== undefined
  }
  const settlement = {
    'fee-basis-points': '150',
    'settlement-bank': bank,
    'settlement-account': newAccount(),
    'settlement-name': `Smoke test ${suffix}`,
  }
  const signingProvider = `${provider}-signing`
  const [token, signingToken, bankToken = '', hasCustomer] = await settleAll([
    createProvider(provider, mayDeny ? settlement : {}),
    createProvider(signingProvider, { 'request-secret': secret }),
    mayDeny ? issueToken({ bank }, creation) : undefined,
    mayDeny && linkCustomer(),
  ])
  await settleAll([
    raiseRequestLimits({ provider }, PROVIDER_OPERATIONS, operator),
    raiseRequestLimits({ bank }, BANK_OPERATIONS, operator),
    setWebhook(provider, creation),
  ])
  if (!token || !signingToken) throw new Mismatch('a token of a provider', 'a request')
  const signing = { provider: signingProvider, secret, token: signingToken }
  return { bank, provider, signing, phone, token, bankToken, hasCustomer, movesMoney }
}

type Requested = { approval: { id: string } }

/**
 * Returns the result of a call. Denies the request of a stage that requires an approval, which a second
 * operator must give, and returns undefined.
 */
const unlessRequested = async <R extends object>(
  result: R,
  operator: CallVerb,
): Promise<Exclude<R, Requested> | undefined> => {
  if (!('approval' in result)) return result as Exclude<R, Requested>
  await operator('approval', 'deny', { id: (result as Requested).approval.id })
  return undefined
}

/** Waits for all calls, so that none creates an object after the clean-up. @throws the first error */
const settleAll = async <const T extends readonly unknown[]>(work: T) => {
  await Promise.allSettled(work)
  return Promise.all(work)
}

/** @returns whether the bank completes debits */
const createBank = async (
  bank: string,
  { operator, undo, mayDeny }: Pick<Creation, 'operator' | 'undo' | 'mayDeny'>,
): Promise<boolean> => {
  const options = { bank, name: `Smoke test ${bank}` }
  const create = (more: { connector?: 'sandbox' }) =>
    operator('bank', 'create', { ...options, ...more })
  const connect = () =>
    create({ connector: 'sandbox' }).catch((error: unknown) => {
      if (error instanceof Mismatch && /--connector: /.test(error.message)) return
      throw error
    })
  const created = mayDeny ? await connect() : undefined
  const movesMoney =
    created !== undefined && (await unlessRequested(created, operator)) !== undefined
  if (!movesMoney) await create({})
  undo.set(`bank ${bank}`, () => operator('bank', 'disable', { bank }))
  return movesMoney
}

/** Issues a token through the command of operators, which prints it. */
const issueToken = async (
  owner: Record<string, string>,
  { operator, command, undo, expiresOn }: Omit<Creation, 'receiver'>,
): Promise<string | undefined> => {
  const options = { ...owner, ...(expiresOn && { 'expires-on': expiresOn }) }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  type Issued = OperatorResult<'credential', 'issue'>
  const issued = await command<Issued>('credential', 'issue', ...words)
  const result = await unlessRequested(issued, operator)
  if (!result) return undefined
  const { id, token } = result
  undo.set(`credential ${id}`, () => operator('credential', 'revoke', { id }))
  return token
}

/** Runs in sequence, because all calls change the same item. */
const raiseRequestLimits = async (
  owner: Record<string, string>,
  operations: readonly string[],
  operator: CallVerb,
): Promise<void> => {
  for (const operation of operations) {
    await operator('limit', 'set', { ...owner, operation, 'per-minute': PER_MINUTE })
  }
}

const setWebhook = async (
  provider: string,
  { operator, receiver, undo }: Pick<Creation, 'operator' | 'receiver' | 'undo'>,
): Promise<void> => {
  const webhook = await operator('webhook', 'set', {
    provider,
    url: receiver?.url ?? NO_RECEIVER,
    ...(receiver ? {} : { 'max-attempts': '1' }),
  })
  // The first URL of a provider needs no approval.
  if ('secret' in webhook && webhook.secret) receiver?.useSecret(webhook.secret)
  undo.set(`webhook of ${provider}`, () => operator('webhook', 'remove', { provider }))
}

/** Removes or disables the newest objects first. @returns a mismatch that names the remaining ones */
export const cleanUp = async (undo: Undo): Promise<Mismatch | undefined> => {
  const remaining: string[] = []
  for (const [object, run] of [...undo].toReversed()) {
    await run().catch((error: Error) => remaining.push(`${object} (${error.message})`))
  }
  const text = remaining.join('; ')
  return text ? new Mismatch('every object disabled', text) : undefined
}
