/** Names of deployed resources, which stacks use without importing each other's values. */

/** Returns the name of a stack, function, queue or alarm. */
export const resourceName = (name: string, stage: string) => `debit-collection-${stage}-${name}`

/** Returns the name of the API, the group of schedules, or the dashboard. */
export const stageName = (stage: string) => `debit-collection-${stage}`

/** Reports whether a stage may have the name. */
export const isStageName = (text: string): boolean => /^[a-z][a-z0-9-]{0,19}$/.test(text)

/** The stage that stacks in LocalStack have; nothing verifies its operators. */
export const LOCAL_STAGE = 'local'
