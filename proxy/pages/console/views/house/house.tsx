export const House = () => <p>house</p>
