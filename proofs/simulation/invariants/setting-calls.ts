import type { Observations, Options, SettingVerb } from '../engine/observations.ts'
import { type Members, type OperatorCall, uploadsIn } from './calls.ts'
import { ownerIn } from './raw-items.ts'

/** The calls of operators that change settings, with the time in which each takes effect. */

/** `until` is infinite if no reply shows the effect. */
export type Period = { from: number; until: number }

export type SettingCall = Period & {
  verb: SettingVerb
  subject: string
  options: Options
  result: Members
  /** Whether an earlier attempt may have had a result that no reply has shown. */
  isRepeated: boolean
}

/** Groups the attempts of each call: a repeat sends the same object. */
const attemptsOf = (calls: readonly OperatorCall[]): OperatorCall[][] => [
  ...Map.groupBy(calls, ({ call }) => call.sent).values(),
]

/** Returns the effect of a call; undefined if it was refused. */
const effectOf = (attempts: readonly OperatorCall[]) => {
  const [first, last] = [attempts[0], attempts.at(-1)]
  const isRepeated = attempts.length > 1
  const isRefused = last?.call.reply?.status === 400
  if (!first || (isRefused && !isRepeated)) return undefined
  // The reason of a refused repeat can be another one than the effect of an earlier attempt.
  const until = (!isRefused && last?.call.reply?.at) || Infinity
  return { from: first.call.at, until, isRepeated, result: last?.result ?? {} }
}

/** Returns the calls of settings, a call for each account of an import. */
export const settingCalls = (
  calls: readonly OperatorCall[],
  isSetting: (verb: string) => boolean,
  changes: Observations['changes'],
): SettingCall[] => {
  // Its grant may have been tried without a reply.
  const denied = new Set(
    changes.flatMap(({ after }) => (after?.decision === 'denied' ? [after.sk] : [])),
  )
  const uploads = uploadsIn(calls, 'customer')
  const rowsOf = ({ bulk }: Options): Options[] =>
    (uploads.get(bulk) ?? []).map(({ row }) => {
      const [phone = '', , number] = row as string[]
      return number === undefined ? { phone } : { phone, 'account-number': number }
    })
  const grants = attemptsOf(
    calls.filter(({ noun, verb }) => noun === 'approval' && verb === 'grant'),
  )
  const requests = calls.filter(
    ({ noun, verb, approval }) => isSetting(`${noun} ${verb}`) && approval === undefined,
  )
  return attemptsOf(requests).flatMap((attempts) => {
    const [{ noun, verb, options } = { noun: '', verb: '', options: {} as Options }] = attempts
    const id = attempts.find(({ requested }) => requested !== undefined)?.requested
    const effective =
      id === undefined ? [attempts] : grants.filter(([first]) => first?.options.id === id)
    const known = effective.map(effectOf).filter((effect) => effect !== undefined)
    if (known.length === 0 || denied.has(String(id))) return []
    const result: Members = Object.assign({}, ...known.map((effect) => effect.result))
    const owner = options.provider ?? options.bank
    const token = options.token ?? result.token
    const from = Math.min(...known.map((effect) => effect.from))
    const until = Math.max(...known.map((effect) => effect.until))
    const isRepeated = known.some((effect) => effect.isRepeated)
    const call = { verb: `${noun} ${verb}` as SettingVerb, from, until, result, isRepeated }
    const rows = call.verb === 'customer import' ? rowsOf(options) : [{}]
    return rows.map((row) => {
      const own: Options = { ...options, ...row }
      const subjects: Options = {
        customer: `${own.phone} ${owner}`,
        credential: `${token}`,
        calendar: own.date ?? '',
      }
      return { ...call, options: own, subject: subjects[noun] ?? owner ?? '' }
    })
  })
}

/** Returns the accounts that charges found at banks, as calls: their writes show the time. 66 compares them. */
export const foundAccounts = (changes: Observations['changes']): SettingCall[] =>
  changes.flatMap(({ after, by, at }) =>
    by?.name === 'charge' && after?.entity === 'account'
      ? [
          {
            verb: 'customer link',
            subject: `${ownerIn(after.pk)} ${ownerIn(after.sk)}`,
            ...{ from: at, until: at, isRepeated: false, result: {} },
            options: { 'account-number': String(after.accountNumber) },
          },
        ]
      : [],
  )
