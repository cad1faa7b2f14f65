"""The papers, as they are cited."""

S1 = (
    "Sajed & Sheffet, An Optimal Private Stochastic-MAB Algorithm Based on an Optimal Private Stopping Rule, "
    "ICML 2019"
)
MISHRA = "Mishra & Thakurta, (Nearly) Optimal Differentially Private Stochastic Multi-Arm Bandits, UAI 2015"
AUER = (
    "Auer, Cesa-Bianchi & Fischer, Finite-time Analysis of the Multiarmed Bandit Problem, "
    "Machine Learning 2002"
)
EVEN_DAR = (
    "Even-Dar, Mannor & Mansour, PAC Bounds for Multi-armed Bandit and Markov Decision Processes, COLT 2002"
)
DOMINGO = (
    "Domingo, Gavaldà & Watanabe, Adaptive Sampling Methods for Scaling Up Knowledge Discovery Algorithms, "
    "Data Mining and Knowledge Discovery 2002"
)
CHAN = "Chan, Shi & Song, Private and Continual Release of Statistics, ICALP 2010"
TAO = (
    "Tao, Wu, Zhao & Wang, Optimal Rates of (Locally) Differentially Private Heavy-tailed Multi-Armed "
    "Bandits, AISTATS 2022"
)
WU = "Wu, Zhou, Tao & Wang, On Private and Robust Bandits, NeurIPS 2023"
HANNA = (
    "Hanna, Girgis, Fragouli & Diggavi, Differentially Private Stochastic Linear Bandits: "
    "(Almost) for Free, 2022"
)
LATTIMORE = "Lattimore & Szepesvári, Bandit Algorithms, Cambridge University Press 2020"
BUBECK = (
    "Bubeck, Cesa-Bianchi & Lugosi, Bandits with Heavy Tail, IEEE Transactions on Information Theory 2013"
)
FELDMAN = (
    "Feldman, McMillan & Talwar, Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy "
    "Amplification by Shuffling, FOCS 2021"
)
ABBASI = "Abbasi-Yadkori, Pál & Szepesvári, Improved Algorithms for Linear Stochastic Bandits, NeurIPS 2011"
AZIZE = (
    "Azize & Basu, When Privacy Meets Partial Information: A Refined Analysis of Differentially Private "
    "Bandits, NeurIPS 2022"
)
REN = "Ren, Zhou, Liu & Shroff, Multi-Armed Bandits with Local Differential Privacy, 2020"
HU = (
    "Hu & Hegde, Near-Optimal Thompson Sampling-based Algorithms for Differentially Private Stochastic "
    "Bandits, UAI 2022"
)
CHOWDHURY = "Chowdhury & Zhou, Distributed Differential Privacy in Multi-Armed Bandits, ICLR 2023"
AZIZE_BAI = (
    "Azize, Jourdan, Al Marjani & Basu, On the Complexity of Differentially Private Best-Arm Identification "
    "with Fixed Confidence, NeurIPS 2023"
)
SHARIFF = "Shariff & Sheffet, Differentially Private Contextual Linear Bandits, NeurIPS 2018"
ZHENG = (
    "Zheng, Cai, Huang, Li & Wang, Locally Differentially Private (Contextual) Bandits Learning, NeurIPS 2020"
)
AZIZE_OPTIMAL = (
    "Azize, Wu, Honda, Orabona, Ito & Basu, Optimal Regret of Bernoulli Bandits under Global Differential "
    "Privacy, NeurIPS 2025"
)
AZIZE_ZCDP = "Azize & Basu, Concentrated Differential Privacy for Bandits, SaTML 2024"
ASI = "Asi, Raman & Talwar, Faster Rates for Private Adversarial Bandits, ICML 2025"
TENENBAUM = (
    "Tenenbaum, Kaplan, Mansour & Stemmer, Differentially Private Multi-Armed Bandits in the Shuffle Model, "
    "NeurIPS 2021"
)
OU = "Ou, Avella Medina & Cummings, Thompson Sampling Itself is Differentially Private, AISTATS 2025"
