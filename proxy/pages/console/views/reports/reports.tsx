export const Reports = () => <p>reports</p>
