import { type ChangeFilter, jobs } from '../../infra/definitions/jobs.ts'
import type { Change } from './table/change.ts'

/** The filters between the table's stream and the function that reads it. */

const passes = (values: ChangeFilter['next'], item: Change['after']): boolean =>
  Object.entries(values ?? {}).every(([name, accepted]) => {
    const value = item?.[name]
    return typeof value === 'string' && (accepted === 'any' || accepted.includes(value))
  })

export const isFollowed = ({ before, after }: Pick<Change, 'before' | 'after'>): boolean =>
  jobs.relay.from.stream.some(
    ({ next, previous }) => passes(next, after) && passes(previous, before),
  )
