import { current } from '../engine/current.ts'

export const performance = { now: (): number => current().runtime.now().getTime() }
