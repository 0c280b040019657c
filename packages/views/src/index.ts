export const views = 'begun'
