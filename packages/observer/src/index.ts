/** Folder of the built page, for whoever serves it. */
export const pageDirectory = new URL('./page/', import.meta.url)
